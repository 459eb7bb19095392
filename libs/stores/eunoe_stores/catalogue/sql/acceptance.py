"""Accepting documents: plan, then compare and set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from eunoe_contracts.content import Json, Metadata
from eunoe_contracts.errors import DocumentErased, IdempotencyConflict, StaleGeneration
from eunoe_contracts.identity import root_id
from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from eunoe_stores.catalogue.rows import AcceptAction, Accepted, AcceptPlan, Edit, NewDocument
from eunoe_stores.catalogue.sql import document_rows
from eunoe_stores.catalogue.sql.edits import remember
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.sql.prepared import apply, fetch, insert_numbered
from eunoe_stores.catalogue.sql.queue_room import Claim
from eunoe_stores.catalogue.tables import documents, erasures

STATE = select(documents.c.generation, documents.c.status, documents.c.fingerprint).where(
    documents.c.id == bindparam("document"), documents.c.tenant == bindparam("of_tenant")
)
WHOLE = (
    document_rows.SELECT.add_columns(documents.c.fingerprint)
    .where(documents.c.id == bindparam("document"), documents.c.tenant == bindparam("of_tenant"))
    .with_for_update()
)
WAS_ERASED = select(erasures.c.generation).where(erasures.c.document == bindparam("document"), erasures.c.tenant == bindparam("of_tenant"))
INSERT = insert(documents)
DELETE = delete(documents).where(documents.c.sequence == bindparam("of_sequence"))
NEXT_SEQUENCE = func.nextval(func.pg_get_serial_sequence("documents", "sequence"))
MERGE = (
    update(documents)
    .where(documents.c.sequence == bindparam("of_sequence"))
    .values({name: bindparam(f"new_{name}") for name in ("tags", "metadata", "session", "position", "revision", "updated_at")})
)
ENDED_BADLY = frozenset({DocumentStatus.FAILED, DocumentStatus.CANCELLED, DocumentStatus.ERASED})


class SqlAcceptance(SqlPart):
    """`DocumentCatalogue.plan_accept` and `accept`."""

    async def plan_accept(self, tenant: str, new: NewDocument, *, reprocess: bool = False) -> AcceptPlan:
        """See `DocumentCatalogue.plan_accept`."""
        return await self._database.read(partial(_plan, tenant=tenant, new=new, reprocess=reprocess), quick=True)

    async def accept(self, tenant: str, new: NewDocument, *, plan: AcceptPlan, queue_limit: int, now: datetime) -> Accepted:
        """See `DocumentCatalogue.accept`."""
        with self._queue_room.claim() as room:
            work = partial(_accept, tenant=tenant, new=new, plan=plan, room=room, queue_limit=queue_limit, now=now)
            accepted = await self._database.write(work, quick=True)
        self._changes.tell(tenant, new.id)
        return accepted


def _plan(connection: Connection, *, tenant: str, new: NewDocument, reprocess: bool) -> AcceptPlan:
    row = fetch(connection, STATE, {"document": new.id, "of_tenant": tenant}).mapping()
    if row is None:
        return AcceptPlan(AcceptAction.CREATE, 1)
    _refuse_erased(connection, tenant, row, new)
    _refuse_other_body(row, new)
    if reprocess or row["status"] in ENDED_BADLY:
        return AcceptPlan(AcceptAction.REACCEPT, row["generation"] + 1)
    return AcceptPlan(AcceptAction.DEDUPLICATE, row["generation"])


def _refuse_other_body(row: Mapping[str, Any], new: NewDocument) -> None:
    # A tombstone has no fingerprint: after an erasure the id is free for any body.
    if row["status"] != DocumentStatus.ERASED and row["fingerprint"] != new.fingerprint:
        raise IdempotencyConflict


def _refuse_erased(connection: Connection, tenant: str, row: Mapping[str, Any], new: NewDocument) -> None:
    # A tombstone without an erasure is of a document that was never accepted (`bury_unaccepted`).
    parameters = {"document": new.id, "of_tenant": tenant}
    if new.unless_erased and row["status"] == DocumentStatus.ERASED and fetch(connection, WAS_ERASED, parameters).first() is not None:
        raise DocumentErased


def _accept(
    connection: Connection, *, tenant: str, new: NewDocument, plan: AcceptPlan, room: Claim, queue_limit: int, now: datetime
) -> Accepted:
    row = fetch(connection, WHOLE, {"document": new.id, "of_tenant": tenant}).mapping()
    if row is None:
        if plan != AcceptPlan(AcceptAction.CREATE, 1):
            raise StaleGeneration
        created_at = new.created_at or now
        return _start(connection, tenant, new, plan, revision=1, created_at=created_at, now=now, room=room, queue_limit=queue_limit)
    if plan.action is AcceptAction.CREATE:
        raise StaleGeneration
    _refuse_erased(connection, tenant, row, new)
    _refuse_other_body(row, new)
    ended_badly = row["status"] in ENDED_BADLY
    if plan.action is AcceptAction.DEDUPLICATE:
        if ended_badly or row["generation"] != plan.generation:
            raise StaleGeneration
        return _merge(connection, row, new, now)
    if row["generation"] + 1 != plan.generation:
        raise StaleGeneration
    created_at = (new.created_at or now) if row["status"] == DocumentStatus.ERASED else row["created_at"]
    is_open = not DocumentStatus(row["status"]).is_end
    return _start(
        connection,
        tenant,
        new,
        plan,
        revision=row["revision"] + 1,  # goes on for those who watch
        created_at=created_at,
        now=now,
        room=None if is_open else room,
        queue_limit=queue_limit,
        instead_of=row["sequence"],
    )


def _start(
    connection: Connection,
    tenant: str,
    new: NewDocument,
    plan: AcceptPlan,
    *,
    revision: int,
    created_at: datetime,
    now: datetime,
    room: Claim | None,
    queue_limit: int,
    instead_of: int | None = None,
) -> Accepted:
    if room is not None:
        room.take(connection, queue_limit)
    values = document_rows.accepted_values(tenant, new, generation=plan.generation, revision=revision, created_at=created_at, now=now)
    try:
        sequence = insert_numbered(connection, INSERT, values) if instead_of is None else _write_anew(connection, instead_of, values)
    except IntegrityError:  # on PostgreSQL another process may accept the same id at the same moment
        raise StaleGeneration from None
    return Accepted(document_rows.document_row({**values, "sequence": sequence}), plan.action)


def _write_anew(connection: Connection, sequence: int, values: Mapping[str, Any]) -> int:
    """Every column anew, at the end of the order of acceptance."""
    if connection.dialect.name == "sqlite":
        apply(connection, DELETE, {"of_sequence": sequence})
        return insert_numbered(connection, INSERT, values)
    # Whoever waits for the lock of a row finds its next version when it was updated, and nothing when it was deleted and inserted.
    moved = update(documents).where(documents.c.sequence == sequence).values(**values, sequence=NEXT_SEQUENCE)
    return int(connection.execute(moved.returning(documents.c.sequence)).scalar_one())


def _merge(connection: Connection, row: Mapping[str, Any], new: NewDocument, now: datetime) -> Accepted:
    tags = [*row["tags"], *(tag for tag in dict.fromkeys(new.tags) if tag not in row["tags"])]
    metadata: dict[str, Json] = {**row["metadata"], **new.metadata}
    updated = tuple(name for name, changed in (("tags", tags != row["tags"]), ("metadata", metadata != row["metadata"])) if changed)
    if not updated:
        return Accepted(document_rows.document_row(row), AcceptAction.DEDUPLICATE)
    values = {
        "tags": tags,
        "metadata": metadata,
        "revision": row["revision"] + 1,
        "updated_at": now,
    }
    apply(connection, MERGE, {"of_sequence": row["sequence"], **_prefixed({**values, **_turn(metadata)})})
    merged = document_rows.document_row({**row, **values})
    remember(connection, Edit(merged.tenant, merged.container, root_id(merged.id), now))
    return Accepted(merged, AcceptAction.DEDUPLICATE, updated)


def _turn(metadata: Metadata) -> dict[str, Any]:
    derived = document_rows.derived_from_metadata(metadata)
    return {"session": derived["session"], "position": derived["position"]}


def _prefixed(values: dict[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in values.items()}
