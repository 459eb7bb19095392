"""Generations of the index: one collection for each embedding model, and an alias that names the one in use.

A change of the model goes like this, while the old generation is searched and written:
`begin` a generation for the new model, `catch_up` each tenant until little is left, `switch` the alias, restart the processes with the
new model, `catch_up` once more when the last old process is gone, `drop` the old generation (`eunoe admin reindex` does all this). A
running process stays on the generation with which it was opened. Removals go to all generations, so nothing that was erased comes back
by being copied; and what a process of the new model wrote is never overwritten by a copy.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eunoe_contracts.errors import ConfigurationError, Conflict, EunoeError, InternalError, ModelMismatch
from weaviate.classes.query import Filter

from eunoe_stores.vectors.weaviate.connection import Connection
from eunoe_stores.vectors.weaviate.schema import Label, checked, definition

_FIRST = 1
_OTHER_MODEL = (
    "The index on Weaviate holds vectors of another embedding model; configure that model, or make a new generation of the index with "
    "`eunoe admin reindex`."
)
_AT_ONCE = 16
KNOWN_S = 5.0
"""How long a process may not know of a new generation. What it removes meanwhile goes with the next `catch_up`."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One of them."""

    number: int
    collection: str
    label: Label
    is_current: bool


class Generations:
    """The collections of one alias."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client
        self._alias = connection.settings.collection
        self._known: Sequence[int] = ()
        self._known_until = 0.0

    def collection(self, number: int) -> str:
        """The name of a generation's collection."""
        return f"{self._alias}_g{number}"

    async def every(self) -> Sequence[Generation]:
        """All that there are, oldest first."""
        current = await self._current()
        numbers = await self.numbers()
        return [Generation(number, self.collection(number), await self.label(number), number == current) for number in numbers]

    async def numbers(self) -> Sequence[int]:
        """Their numbers."""
        names = await self._connection.write(self._client.collections.list_all(simple=True))
        return sorted(int(found[1]) for name in names if (found := re.fullmatch(rf"{self._alias}_g(\d+)", name)))

    async def others(self, number: int) -> Sequence[int]:
        """The generations beside this one, as they were a moment ago."""
        now = asyncio.get_running_loop().time()
        if now >= self._known_until:
            self._known = await self.numbers()
            self._known_until = now + KNOWN_S
        return [each for each in self._known if each != number]

    async def opened(self, number: int) -> int:
        """The generation to work on: that one, or the alias's for 0. Makes the first one and the alias on a server that has neither.

        Raises `ConfigurationError` and `SchemaTooNew` for a collection that cannot be used.
        """
        chosen = number or await self._current()
        if chosen is None:
            await self._create(_FIRST, Label())
            await self._create_alias(_FIRST)
            chosen = await self._current() or _FIRST
        elif number and number not in await self.numbers():
            raise ConfigurationError(f"weaviate: there is no generation {number} of {self._alias}; see EUNOE_WEAVIATE__GENERATION")
        await self.label(chosen)
        if not self._connection.settings.allow_blockmax and await self._connection.uses_blockmax(self.collection(chosen)):
            raise ConfigurationError(
                "weaviate: the collection ranks words by BlockMax WAND, whose lists lack good rows among those written in the last "
                "minute. Start the server with USE_INVERTED_SEARCHABLE=false and make the collection anew, or set "
                "EUNOE_WEAVIATE__ALLOW_BLOCKMAX=true"
            )
        return chosen

    async def label(self, number: int) -> Label:
        """What the generation's collection says of itself. Raises as `opened`."""
        return checked(await self._connection.write(self._client.collections.use(self.collection(number)).config.get()))

    async def begin(self, model_id: str, dimensions: int) -> int:
        """Make an empty generation for a model, and return its number; that of the newest one when it is for this model already. Its
        label names the current one, whose rows it is to take over.
        """
        newest = max(await self.numbers(), default=0)
        if newest and (await self.label(newest)).model == model_id:
            return newest
        await self._create(newest + 1, Label(model=model_id, dimensions=dimensions, source=await self._current()))
        self._known_until = 0.0
        return newest + 1

    async def switch(self, number: int) -> None:
        """Let the alias name this generation: what is opened from now on works on it. May be called twice."""
        await self.label(number)
        await self._create_alias(number)
        if await self._current() != number:
            await self._connection.write(self._client.alias.update(alias_name=self._alias, new_target_collection=self.collection(number)))

    async def drop(self, number: int) -> None:
        """Remove a generation with all of its rows. Raises `Conflict` for the current one. May be called twice."""
        if number == await self._current():
            raise Conflict("weaviate: this generation is in use; switch to another one first")
        await self._connection.write(self._client.collections.delete(self.collection(number)))

    async def clear(self) -> None:
        """Remove the alias and all generations."""
        await self._connection.write(self._client.alias.delete(alias_name=self._alias))
        for number in await self.numbers():
            await self._connection.write(self._client.collections.delete(self.collection(number)))

    async def bind(self, number: int, model_id: str, dimensions: int) -> Label:
        """See `VectorIndex.bind_model`."""
        label = await self.label(number)
        if (label.model, label.dimensions) == (model_id, dimensions):
            return label
        same = label.model in {None, model_id} and label.dimensions in {None, dimensions}
        if not same and await self._has_vectors(number):
            raise ModelMismatch(_OTHER_MODEL)
        wanted = replace(label, model=model_id, dimensions=dimensions)
        config = self._client.collections.use(self.collection(number)).config
        await self._connection.write(config.update(description=wanted.text()))
        found = await self.label(number)
        if found != wanted:
            raise ModelMismatch(_OTHER_MODEL)  # somebody bound another model at the same moment
        return found

    async def _has_vectors(self, number: int) -> bool:
        collection = self._client.collections.use(self.collection(number))
        shards = list(await self._connection.write(collection.tenants.get()))
        condition = Filter.by_property("has_vector").equal(True)  # noqa: FBT003 - a value
        for start in range(0, len(shards), _AT_ONCE):
            part = [collection.with_tenant(shard) for shard in shards[start : start + _AT_ONCE]]
            counts = await asyncio.gather(
                *(self._connection.write(each.aggregate.over_all(filters=condition, total_count=True)) for each in part)
            )
            if any(each.total_count for each in counts):
                return True
        return False

    async def _current(self) -> int | None:
        found = await self._connection.write(self._client.alias.get(alias_name=self._alias))
        if found is None:
            return None
        number = re.fullmatch(rf"{self._alias}_g(\d+)", found.collection)
        if number is None:
            raise InternalError(f"weaviate: the alias {self._alias} names a collection that is not ours")
        return int(number[1])

    async def _create(self, number: int, label: Label) -> None:
        wanted = definition(self.collection(number), label, self._connection.settings)
        try:
            await self._connection.write(self._client.collections.create(**wanted))
        except EunoeError:
            # Another process may have made it at the same moment.
            if number not in await self.numbers():
                raise

    async def _create_alias(self, number: int) -> None:
        try:
            await self._connection.write(self._client.alias.create(alias_name=self._alias, target_collection=self.collection(number)))
        except EunoeError:
            if await self._current() is None:
                raise
