"""Changes of rows. All are repeatable; what one call does not finish, the next one does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from uuid import UUID

from eunoe_contracts.errors import InternalError
from weaviate.collections.classes.filters import FilterReturn
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateInsertManyAllFailedError

from eunoe_stores.vectors.weaviate.connection import Connection, Shard
from eunoe_stores.vectors.weaviate.errors import TenantAbsent, of_objects
from eunoe_stores.vectors.weaviate.filters import keys_among
from eunoe_stores.vectors.weaviate.rows import Entry

_IN_FLIGHT = 2
"""Batches at a time: more of them only make searches wait."""
_AT_ONCE = 16
_KEYS = 500
_ROUNDS = 1_000
_NOT_FOUND = 404


class Writing:
    """Changes in a tenant's part of any collection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._batches = asyncio.Semaphore(_IN_FLIGHT)
        self._changes = asyncio.Semaphore(_AT_ONCE)

    async def insert(self, shard: Shard, entries: Sequence[Entry]) -> None:
        """Insert or replace. Raises the error of the first batch that was not taken whole; other rows of it are written then."""
        for batch in self._cut(entries):
            async with self._batches:
                await self._connection.write(_insert(shard, batch))

    async def remove(self, shard: Shard, condition: FilterReturn) -> int:
        """Remove the rows that satisfy a condition; returns how many. The server removes a limited number with each call."""
        removed = 0
        for _ in range(_ROUNDS):
            try:
                done = await self._connection.write(shard.data.delete_many(where=condition))
            except TenantAbsent:
                return removed
            removed += done.successful
            if done.successful == done.matches:
                return removed
            if not done.successful:
                raise InternalError("weaviate did not remove rows")
        raise InternalError("weaviate finds rows that it has removed")

    async def remove_keys(self, shard: Shard, keys: Sequence[UUID]) -> int:
        """Remove rows by key; returns how many were there."""
        wanted = list(dict.fromkeys(keys))
        return sum([await self.remove(shard, keys_among(wanted[start : start + _KEYS])) for start in range(0, len(wanted), _KEYS)])

    async def set_latest(self, shard: Shard, keys: Sequence[UUID], *, is_latest: bool) -> None:
        """Change the flag; the rest of the row stays. Rows that are not there are left out."""

        async def change(key: UUID) -> None:
            async with self._changes:
                try:
                    await self._connection.write(_set_latest(shard, key, is_latest=is_latest))
                except TenantAbsent:
                    return

        try:
            async with asyncio.TaskGroup() as group:
                for key in dict.fromkeys(keys):
                    group.create_task(change(key))
        except ExceptionGroup as failed:  # callers know single errors only
            raise failed.exceptions[0] from None

    def _cut(self, entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
        settings = self._connection.settings
        batch: list[Entry] = []
        size = 0
        for entry in entries:
            if batch and (len(batch) >= settings.batch_rows or size + entry.size() > settings.batch_bytes):
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += entry.size()
        if batch:
            yield batch


async def _insert(shard: Shard, batch: Sequence[Entry]) -> None:
    # No exception tells that some objects were refused, only the answer does.
    try:
        done = await shard.data.insert_many([entry.object() for entry in batch])
    except WeaviateInsertManyAllFailedError as error:
        raise of_objects([str(error)], refused=len(batch), sent=len(batch)) from None
    if done.errors:
        raise of_objects([each.message for each in done.errors.values()], refused=len(done.errors), sent=len(batch))


async def _set_latest(shard: Shard, key: UUID, *, is_latest: bool) -> None:
    try:
        await shard.data.update(uuid=key, properties={"latest": is_latest})
    except UnexpectedStatusCodeError as error:
        if error.status_code != _NOT_FOUND:
            raise
