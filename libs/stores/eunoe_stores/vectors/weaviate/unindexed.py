"""Rows that were written here and that the vector index was not yet seen to have: the server indexes vectors in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from uuid import UUID

from eunoe_contracts.errors import StoreUnavailable
from weaviate.classes.query import MetadataQuery

from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.filters import keys_among
from eunoe_stores.vectors.weaviate.reading import Reading
from eunoe_stores.vectors.weaviate.schema import VECTOR

_FIRST_WAIT_S = 0.05
_LONGEST_WAIT_S = 0.5
_KEYS = 200
_LOOK_AFTER = 1_000
"""Rows of a tenant after which some are looked for, so that a process that never waits does not remember all it ever wrote."""


class Unindexed:
    """Use it from one event loop."""

    def __init__(self, connection: Connection, reading: Reading) -> None:
        self._connection = connection
        self._reading = reading
        self._keys: dict[str, dict[UUID, None]] = {}
        self._probes: dict[str, Sequence[float]] = {}
        self.count = 0
        """How many there are."""

    async def absent(self, tenant: str, keys: Sequence[UUID], probe: Sequence[float]) -> list[UUID]:
        """Those of the keys that a vector query does not find. Any vector does as a probe: as many are asked for as there may be."""
        found: set[UUID] = set()
        for start in range(0, len(keys), _KEYS):
            part = keys[start : start + _KEYS]
            query = self._reading.shard(tenant).query.near_vector(
                near_vector=list(probe),
                target_vector=VECTOR,
                limit=len(part),
                filters=keys_among(part),
                return_metadata=MetadataQuery(distance=True),
                return_properties=False,
            )
            answer = await self._connection.read(query, absent=None)
            found.update(each.uuid for each in ([] if answer is None else answer.objects))
        return [key for key in keys if key not in found]

    async def wait(self, tenant: str, keys: Sequence[UUID], probe: Sequence[float]) -> list[UUID]:
        """Wait until a vector query finds the keys, at most `visible_s` in which none of them appears. Returns those that it does not
        find even then.
        """
        loop, patience = asyncio.get_running_loop(), self._connection.settings.visible_s
        end, pause = loop.time() + patience, _FIRST_WAIT_S
        left = await self.absent(tenant, keys, probe)
        while left and loop.time() < end:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_WAIT_S)
            still = await self.absent(tenant, left, probe)
            if len(still) < len(left):
                end = loop.time() + patience
            left = await self._there(tenant, still)
        self.discard(tenant, set(keys) - set(left))
        return left

    async def add(self, tenant: str, keys: Sequence[UUID], probe: Sequence[float]) -> None:
        """Remember written rows; the probe is one of their vectors. With very many rows, waits until the index has caught up; raises
        `StoreUnavailable` if it does not.
        """
        known = self._keys.setdefault(tenant, {})
        self._probes[tenant] = probe
        before = len(known)
        known.update(dict.fromkeys(keys))
        self.count += len(known) - before
        if before // _LOOK_AFTER != len(known) // _LOOK_AFTER:
            await self._look(tenant, list(islice(known, _LOOK_AFTER)))
        while self.count > self._connection.settings.unindexed_rows:
            if await self._look(tenant, list(islice(known, _LOOK_AFTER)), wait=True):
                raise StoreUnavailable("weaviate indexes vectors more slowly than they are written")
            if not known:
                return

    def discard(self, tenant: str, keys: set[UUID]) -> None:
        """Forget rows: they were seen, or removed."""
        known = self._keys.get(tenant)
        if known is not None:
            before = len(known)
            for key in keys:
                known.pop(key, None)
            self.count -= before - len(known)
            if not known:
                del self._keys[tenant]
                self._probes.pop(tenant, None)

    async def settle(self) -> None:
        """Wait for all that was written here. Raises `StoreUnavailable` when the index does not get there in time."""
        for tenant in list(self._keys):
            if await self._look(tenant, list(self._keys.get(tenant, ())), wait=True):
                raise StoreUnavailable("weaviate is still indexing vectors that were written before")

    async def _look(self, tenant: str, keys: Sequence[UUID], *, wait: bool = False) -> list[UUID]:
        """Forget those that are found by now. Returns those that are there and not found."""
        probe = self._probes.get(tenant)
        if probe is None or not keys:
            return []
        look = self.wait if wait else self.absent
        left = await look(tenant, keys, probe)
        left = await self._there(tenant, left)
        self.discard(tenant, set(keys) - set(left))
        return left

    async def _there(self, tenant: str, keys: Sequence[UUID]) -> list[UUID]:
        """Without those that were removed meanwhile, perhaps by another process: nothing to wait for."""
        found = await self._reading.by_key(tenant, keys, ["has_vector"]) if keys else {}
        return [key for key in keys if found.get(key, {}).get("has_vector")]
