"""A catalogue for tests of other parts: the real one, on a file that the test throws away; and values to fill it with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from eunoe_contracts.content import Kind, Memory, Unit
from eunoe_contracts.identity import keyed_document_id, memory_id, passage_id, sha256_hex

from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.rows import Accepted, NewDocument
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.sqlite.database import SqliteDatabase

TENANT = "acme"
CONTAINER = "team.notes"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MANY = 1_000_000
"""A queue limit that no test reaches."""


@asynccontextmanager
async def open_memory_catalogue(folder: Path) -> AsyncIterator[SqlCatalogue]:
    """A migrated catalogue in `<folder>/eunoe.db`, not synced to disk at each commit; closed at the end."""
    database = SqliteDatabase(folder / "eunoe.db", synchronous="NORMAL", readers=2)
    try:
        await migrate(database)
        catalogue = SqlCatalogue(database, watch_interval_s=0.05)
        yield catalogue
        await catalogue.close()
    finally:
        await database.close()


def new_document(name: str = "note.md", **changes: Any) -> NewDocument:
    """A document whose id follows from its name; `changes` are fields of `NewDocument`."""
    digest = sha256_hex(name.encode())
    document = NewDocument(
        id=keyed_document_id(TENANT, name),
        container=CONTAINER,
        content_type="markdown",
        media_type="text/markdown",
        name=name,
        size=len(name),
        sha256=digest,
        blob=f"{TENANT}/{digest}/1/source",
        fingerprint=digest,
    )
    return replace(document, **changes)


async def accept(catalogue: SqlCatalogue, new: NewDocument, *, reprocess: bool = False, now: datetime = NOON) -> Accepted:
    """Plan and accept."""
    plan = await catalogue.plan_accept(TENANT, new, reprocess=reprocess)
    return await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=now)


def passage(document: UUID, ordinal: int = 0, *, generation: int = 1, text: str = "", container: str = CONTAINER) -> Unit:
    """A passage."""
    body = text or f"Passage {ordinal}."
    return Unit(passage_id(document, ordinal), document, generation, container, Kind.PASSAGE, ordinal, body, f"note\n{body}")


def memory(document: UUID, statement: str, *, generation: int = 1, **changes: Any) -> Memory:
    """A fact that rests on the first passage; `changes` are fields of `Memory`."""
    fact = Memory(
        id=memory_id(TENANT, CONTAINER, Kind.FACT.value, statement),
        container=CONTAINER,
        kind=Kind.FACT,
        text=statement,
        document=document,
        generation=generation,
        unit=passage_id(document, 0),
        span=statement,
    )
    return replace(fact, **changes)
