"""Locks for works that read before they write.

SQLite has one writer, so there is nothing to lock. On PostgreSQL writers run at the same time, in READ COMMITTED: each statement sees
what was committed when it began. A work therefore locks rows first and reads them in a later statement. (One statement that does both is
not enough: after a wait it has the newest version of the row that it locked, but those of before of all that it joined to it.)

A row that is not there yet cannot be locked, and may be there when it is read. So the functions say what they locked; None means all, there
is no need for locks.

The order is documents, memories, then rows that belong to them; within one table by id. Who keeps it never waits in a circle; a circle
that is there all the same is broken by PostgreSQL, and the work runs again.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import Connection, bindparam, select

from eunoe_stores.catalogue.sql.together import chunks
from eunoe_stores.catalogue.tables import dead_letters, documents, memories

Locked: TypeAlias = AbstractSet[UUID] | None
"""The ids that are locked; None for all."""

DOCUMENTS = (
    select(documents.c.id)
    .where(documents.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(documents.c.id, documents.c.tenant)
    .with_for_update()
)
DOCUMENT_OF_LETTER = (
    select(documents.c.sequence)
    .join(dead_letters, (dead_letters.c.document == documents.c.id) & (dead_letters.c.tenant == documents.c.tenant))
    .where(dead_letters.c.id == bindparam("letter"))
    .with_for_update(of=documents)
)
MEMORIES = (
    select(memories.c.id)
    .where(memories.c.id.in_(bindparam("ids", expanding=True)), memories.c.tenant == bindparam("of_tenant"))
    .order_by(memories.c.id)
    .with_for_update()
)


def lock_documents(connection: Connection, ids: Iterable[UUID]) -> Locked:
    """Nobody else changes these documents, their ledgers and what belongs to them until the transaction ends."""
    if connection.dialect.name == "sqlite":
        return None
    return {id_ for chunk in chunks(sorted(ids)) for id_ in connection.execute(DOCUMENTS, {"ids": chunk}).scalars()}


def lock_document_of_letter(connection: Connection, letter: UUID) -> None:
    """The same for the document that a dead letter is about, if any."""
    if connection.dialect.name != "sqlite":
        connection.execute(DOCUMENT_OF_LETTER, {"letter": letter}).close()


def lock_memories(connection: Connection, tenant: str, ids: Iterable[UUID]) -> Locked:
    """Nobody else revives, changes or buries these memories, nor adds a source to one, until the transaction ends."""
    if connection.dialect.name == "sqlite":
        return None
    chunked = chunks(sorted(ids))
    return {id_ for chunk in chunked for id_ in connection.execute(MEMORIES, {"ids": chunk, "of_tenant": tenant}).scalars()}
