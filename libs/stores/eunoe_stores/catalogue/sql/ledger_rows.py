"""Loading ledgers of several documents with one statement, and writing back what changed with at most three."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from eunoe_contracts.stages import DocumentStatus, Stage, StageState
from sqlalchemy import Connection, bindparam, insert, select, update

from eunoe_stores.catalogue.sql.ledger_state import Entry, Ledger
from eunoe_stores.catalogue.sql.locks import lock_documents
from eunoe_stores.catalogue.sql.prepared import apply, fetch
from eunoe_stores.catalogue.tables import documents, stages

Key = tuple[str, UUID]
"""Tenant and document."""

_WRITTEN = ("state", "owner", "lease_until", "attempts", "code", "message", "updated_at")

LOAD = (
    select(
        documents.c.tenant,
        documents.c.id,
        documents.c.sequence,
        documents.c.generation,
        documents.c.status,
        stages.c.stage,
        *(stages.c[name] for name in _WRITTEN),
    )
    .select_from(
        documents.outerjoin(
            stages,
            (stages.c.document == documents.c.id)
            & (stages.c.generation == documents.c.generation)
            & (stages.c.tenant == documents.c.tenant),
        )
    )
    .where(documents.c.id.in_(bindparam("ids", expanding=True)))
)
INSERT_STAGES = insert(stages)
UPDATE_STAGES = (
    update(stages)
    .where(
        stages.c.document == bindparam("of_document"),
        stages.c.generation == bindparam("of_generation"),
        stages.c.stage == bindparam("of_stage"),
        stages.c.tenant == bindparam("of_tenant"),
    )
    .values({name: bindparam(name) for name in _WRITTEN})
)
UPDATE_DOCUMENTS = (
    update(documents)
    .where(documents.c.sequence == bindparam("of_sequence"))
    .values(
        status=bindparam("new_status"),
        is_open=bindparam("now_open"),
        updated_at=bindparam("changed_at"),
        revision=documents.c.revision + 1,
    )
)


def load(connection: Connection, keys: Iterable[Key]) -> dict[Key, Ledger]:
    """Ledgers of the documents that exist (tombstones too), locked until the transaction ends."""
    ids = list({document for _, document in keys})
    locked = lock_documents(connection, ids)
    ledgers: dict[Key, Ledger] = {}
    for row in fetch(connection, LOAD, {"ids": ids}):
        tenant, document, sequence, generation, status, stage, state, owner, lease_until, attempts, code, message, updated_at = row
        ledger = ledgers.get((tenant, document))
        if ledger is None:
            ledger = ledgers[tenant, document] = Ledger(sequence, generation, DocumentStatus(status))
        if stage is not None:
            ledger.entries[Stage(stage)] = Entry(StageState(state), owner, lease_until, attempts, code, message, updated_at, stored=True)
    if locked is not None and any(document not in locked for _, document in ledgers):
        return load(connection, ledgers)  # accepted between the two statements; now it can be locked
    return ledgers


def store(connection: Connection, ledgers: Mapping[Key, Ledger]) -> None:
    """Write what changed since `load`."""
    inserts: list[dict[str, Any]] = []
    updates: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for (tenant, document), ledger in ledgers.items():
        for stage, entry in ledger.entries.items():
            if not entry.changed:
                continue
            values: dict[str, Any] = {
                "state": entry.state.value,
                "owner": entry.owner,
                "lease_until": entry.lease_until,
                "attempts": entry.attempts,
                "code": entry.code,
                "message": entry.message,
                "updated_at": entry.updated_at,
            }
            if entry.stored:
                key = {"of_document": document, "of_generation": ledger.generation, "of_stage": stage.value, "of_tenant": tenant}
                updates.append(values | key)
            else:
                key = {"document": document, "generation": ledger.generation, "stage": stage.value, "tenant": tenant}
                inserts.append(values | key)
        if ledger.changed_at is not None:
            changed.append(
                {
                    "of_sequence": ledger.sequence,
                    "new_status": ledger.status.value,
                    "now_open": not ledger.status.is_end,
                    "changed_at": ledger.changed_at,
                }
            )
    for statement, rows in ((INSERT_STAGES, inserts), (UPDATE_STAGES, updates), (UPDATE_DOCUMENTS, changed)):
        if rows:
            apply(connection, statement, rows)
