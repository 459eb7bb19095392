"""Passages, sections and roots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

from eunoe_contracts.content import Kind, Location, Unit
from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select

from eunoe_stores.catalogue.rows import EarlierTurn
from eunoe_stores.catalogue.sql.document_changes import change, row_for_change
from eunoe_stores.catalogue.sql.document_rows import findable, title_key
from eunoe_stores.catalogue.sql.documents import NOT_ERASED, READABLE
from eunoe_stores.catalogue.sql.ledger_state import Ledger
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import apply, fetch
from eunoe_stores.catalogue.sql.together import Together, chunks
from eunoe_stores.catalogue.tables import documents, units
from eunoe_stores.sqlite.port import FEW_ROWS, Database

GenerationKey: TypeAlias = tuple[str, UUID, int]
"""Tenant, document and generation."""

FIELDS = (*("id", "document", "generation", "container", "kind", "ordinal", "text", "context", "parent", "location", "tokens", "indexed"),)
"""Columns that make a `Unit`, in its order."""
LOCATION_FIELDS = tuple(field.name for field in fields(Location))
ORDER = {Kind.ROOT: 0, Kind.SECTION: 1, Kind.PASSAGE: 2}

_COLUMNS = tuple(units.c[name] for name in FIELDS)
_of_document = (units.c.document == bindparam("of_document"), units.c.tenant == bindparam("of_tenant"))
_with_document = units.join(documents, (documents.c.id == units.c.document) & (documents.c.tenant == units.c.tenant))

OF_GENERATION = (
    select(*_COLUMNS)
    .select_from(_with_document)
    .where(*_of_document, units.c.generation == bindparam("of_generation"), NOT_ERASED)
    .order_by(units.c.ordinal)
)
OF_GENERATIONS = (
    select(*_COLUMNS)
    .select_from(_with_document)
    .where(
        units.c.document.in_(bindparam("ids", expanding=True)),
        units.c.tenant == bindparam("of_tenant"),
        units.c.generation == bindparam("of_generation"),
        NOT_ERASED,
    )
)
BY_ID = (
    # Not a join: SQLite, which has no statistics, would go through all documents of the tenant and their units instead of these ids.
    select(*_COLUMNS)
    .where(
        units.c.id.in_(bindparam("ids", expanding=True)),
        units.c.tenant == bindparam("of_tenant"),
        exists().where(documents.c.id == units.c.document, documents.c.tenant == units.c.tenant, NOT_ERASED),
    )
    .order_by(units.c.generation)
)
LATEST = select(func.max(units.c.generation)).select_from(_with_document).where(*_of_document, NOT_ERASED)
DELETE_ONE = delete(units).where(*_of_document, units.c.generation == bindparam("of_generation"))
DELETE_THROUGH = delete(units).where(*_of_document, units.c.generation <= bindparam("through"))
INSERT = insert(units)
UNREAD = frozenset({DocumentStatus.QUEUED.value, DocumentStatus.EXTRACTING.value})
PREVIOUS_TURN = (
    select(documents.c.id, documents.c.status, documents.c.position)
    .where(
        documents.c.tenant == bindparam("of_tenant"),
        documents.c.container == bindparam("in_container"),
        documents.c.session == bindparam("of_session"),
        documents.c.session != "",
        documents.c.position < bindparam("before"),
        READABLE,
    )
    .order_by(documents.c.position.desc(), documents.c.sequence.desc())
    .limit(1)
)


class SqlUnits(SqlPart):
    """`UnitCatalogue`."""

    def __init__(self, database: Database, *, watch_interval_s: float = 0.5) -> None:
        super().__init__(database, watch_interval_s=watch_interval_s)
        self._asked_units: Together[GenerationKey] = Together(partial(database.read, quick=True), read_units)

    async def put_units(self, tenant: str, document: UUID, generation: int, units: Sequence[Unit], *, title: str, now: datetime) -> bool:
        """See `UnitCatalogue.put_units`."""
        rows = [_values(tenant, unit) for unit in units]

        def work(connection: Connection) -> bool:
            row = row_for_change(connection, tenant, document)
            if row is None or Ledger(0, row["generation"], DocumentStatus(row["status"])).is_fenced(generation):
                return False
            apply(connection, DELETE_ONE, {"of_tenant": tenant, "of_document": document, "of_generation": generation})
            if rows:
                apply(connection, INSERT, rows)
            change(connection, row["sequence"], {"title": title, "title_key": title_key(title), "updated_at": now})
            return True

        written = await self._database.write(work, durable=False, quick=len(units) <= FEW_ROWS)
        self._changes.tell(tenant, document)
        return written

    async def units(self, tenant: str, document: UUID, generation: int, *, kinds: frozenset[Kind] = frozenset()) -> Sequence[Unit]:
        """See `UnitCatalogue.units`. Empty once the document is erased."""
        found: Sequence[Unit] = await self._asked_units.call((tenant, document, generation))
        return [unit for unit in found if not kinds or unit.kind in kinds]

    async def units_by_id(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, Unit]:
        """See `UnitCatalogue.units_by_id`."""
        if not ids:
            return {}
        parameters = {"of_tenant": tenant, "ids": list(ids)}
        return await self._database.read(
            lambda connection: {row.id: _unit(row) for row in fetch(connection, BY_ID, parameters)},  # the newest comes last
            quick=True,
        )

    async def latest_generation_with_units(self, tenant: str, document: UUID) -> int:
        """See `UnitCatalogue.latest_generation_with_units`."""
        parameters = {"of_tenant": tenant, "of_document": document}
        return await self._database.read(lambda connection: int(fetch(connection, LATEST, parameters).scalar() or 0), quick=True)

    async def delete_units(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        """See `UnitCatalogue.delete_units`."""
        parameters = {"of_tenant": tenant, "of_document": document, "through": through_generation}
        return await self._database.write(lambda connection: apply(connection, DELETE_THROUGH, parameters))

    async def turn_before(self, tenant: str, container: str, session: str, *, before: int) -> EarlierTurn | None:
        """See `UnitCatalogue.turn_before`."""
        parameters = {"of_tenant": tenant, "in_container": container, "of_session": findable(session), "before": before}

        def work(connection: Connection) -> EarlierTurn | None:
            turn = fetch(connection, PREVIOUS_TURN, parameters).first()
            if turn is None:
                return None
            of_document = {"of_tenant": tenant, "of_document": turn.id}
            generation = fetch(connection, LATEST, of_document).scalar()
            rows = fetch(connection, OF_GENERATION, {**of_document, "of_generation": generation}) if generation else ()
            passages = tuple(_unit(row) for row in rows if row.kind == Kind.PASSAGE)
            return EarlierTurn(turn.id, turn.position, passages, is_awaited=not passages and turn.status in UNREAD)

        return await self._database.read(work, quick=True)


def read_units(connection: Connection, keys: Sequence[GenerationKey]) -> list[Sequence[Unit]]:
    """Units of generations, in the order asked for; three stages ask for the same ones at about the same time."""
    found: dict[GenerationKey, list[Unit]] = defaultdict(list)
    for tenant, generation in {(tenant, generation) for tenant, _, generation in keys}:
        for ids in chunks(document for of_tenant, document, of in keys if (of_tenant, of) == (tenant, generation)):
            for row in fetch(connection, OF_GENERATIONS, {"of_tenant": tenant, "ids": ids, "of_generation": generation}):
                found[tenant, row.document, generation].append(_unit(row))
    for units_of_one in found.values():
        units_of_one.sort(key=lambda unit: (ORDER[unit.kind], unit.ordinal))
    return [found.get(key, []) for key in keys]


def _values(tenant: str, unit: Unit) -> dict[str, Any]:
    return {
        "id": unit.id,
        "generation": unit.generation,
        "tenant": tenant,
        "document": unit.document,
        "container": unit.container,
        "kind": unit.kind.value,
        "ordinal": unit.ordinal,
        "text": unit.text,
        "context": unit.context,
        "parent": unit.parent,
        "location": _location(unit.location),
        "tokens": unit.tokens,
        "indexed": unit.indexed,
    }


def _location(location: Location) -> dict[str, Any]:
    # `dataclasses.asdict` copies deeply, which costs more than the rest of the row.
    return {name: getattr(location, name) for name in LOCATION_FIELDS}


def _unit(row: Sequence[Any]) -> Unit:
    id_, document, generation, container, kind, ordinal, text, context, parent, location, tokens, indexed = row
    where = Location(**{**location, "heading_path": tuple(location["heading_path"])})
    return Unit(id_, document, generation, container, Kind(kind), ordinal, text, context, parent, where, tokens, indexed)
