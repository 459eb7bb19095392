"""Containers and counts; both are derived, nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eunoe_contracts.stages import Stage, StageState
from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from eunoe_stores.catalogue.rows import ContainerRow, Page
from eunoe_stores.catalogue.sql import memory_rows
from eunoe_stores.catalogue.sql.documents import NOT_ERASED
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.tables import dead_letters, documents, memories, memory_sources, stages

MEMORIES_IN = (
    select(memories.c.container, func.count())
    .where(memories.c.tenant == bindparam("of_tenant"), memories.c.container.in_(bindparam("names", expanding=True)), *memory_rows.VISIBLE)
    .group_by(memories.c.container)
)
BY_STATUS = (
    select(documents.c.status, func.count()).where(documents.c.tenant == bindparam("of_tenant"), NOT_ERASED).group_by(documents.c.status)
)
BY_KIND = (
    select(memories.c.kind, func.count()).where(memories.c.tenant == bindparam("of_tenant"), *memory_rows.VISIBLE).group_by(memories.c.kind)
)
_embedded = memory_rows.live_sources.join(
    stages,
    (stages.c.document == memory_sources.c.document)
    & (stages.c.generation == memory_sources.c.generation)
    & (stages.c.tenant == memory_sources.c.tenant),
)
EMBEDDED = (
    select(func.count(memory_sources.c.memory.distinct()))
    .select_from(_embedded)
    .where(
        memory_sources.c.tenant == bindparam("of_tenant"),
        stages.c.stage == Stage.EMBED_MEMORIES.value,
        stages.c.state == StageState.FINISHED.value,
    )
)
CONTAINERS = select(func.count(documents.c.container.distinct())).where(documents.c.tenant == bindparam("of_tenant"), NOT_ERASED)
TENANTS = select(documents.c.tenant).distinct().order_by(documents.c.tenant)
LETTERS = select(func.count()).where(dead_letters.c.tenant == bindparam("of_tenant"), dead_letters.c.replayed_at.is_(None))


class SqlContainers(SqlPart):
    """`ContainerCatalogue`, without `documents_in`."""

    async def tenants(self) -> Sequence[str]:
        """See `ContainerCatalogue.tenants`."""
        return await self._database.read(lambda connection: list(connection.execute(TENANTS).scalars()))

    async def containers(self, tenant: str, *, prefix: str, page: Page) -> tuple[Sequence[ContainerRow], int]:
        """See `ContainerCatalogue.containers`. `prefix` is compared letter by letter; empty means all."""
        conditions: list[ColumnElement[bool]] = [documents.c.tenant == tenant, NOT_ERASED]
        if prefix:
            conditions.append(func.substr(documents.c.container, 1, len(prefix)) == prefix)
        rows = (
            select(documents.c.container, func.count(), func.min(documents.c.created_at))
            .where(*conditions)
            .group_by(documents.c.container)
            .order_by(documents.c.container)
            .limit(page.limit)
            .offset(page.offset)
        )

        def work(connection: Connection) -> tuple[list[ContainerRow], int]:
            total = connection.execute(select(func.count(documents.c.container.distinct())).where(*conditions)).scalar_one()
            found = connection.execute(rows).all()
            parameters = {"of_tenant": tenant, "names": [name for name, _, _ in found]}
            counts: dict[str, int] = {name: count for name, count in connection.execute(MEMORIES_IN, parameters)}  # noqa: C416 - typed
            return [ContainerRow(name, counts.get(name, 0), count, created_at) for name, count, created_at in found], int(total)

        return await self._database.read(work)

    async def stats(self, tenant: str) -> Mapping[str, Mapping[str, int]]:
        """See `ContainerCatalogue.stats`. Replayed dead letters are not counted."""
        parameters = {"of_tenant": tenant}

        def work(connection: Connection) -> dict[str, dict[str, int]]:
            statuses: dict[str, int] = {status: count for status, count in connection.execute(BY_STATUS, parameters)}  # noqa: C416 - typed
            kinds: dict[str, int] = {kind: count for kind, count in connection.execute(BY_KIND, parameters)}  # noqa: C416 - typed
            embedded = int(connection.execute(EMBEDDED, parameters).scalar_one())
            return {
                "documents": {"total": sum(statuses.values()), **statuses},
                "memories": {"total": sum(kinds.values()), "embedded": embedded, **kinds},
                "containers": {"total": int(connection.execute(CONTAINERS, parameters).scalar_one())},
                "dead_letters": {"total": int(connection.execute(LETTERS, parameters).scalar_one())},
            }

        return await self._database.read(work)
