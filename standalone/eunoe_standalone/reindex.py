"""A change of the embedding model on Weaviate: a new generation of the index, filled while the old one is searched and written.

Every step may be interrupted and run again: what is there already is not embedded a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from eunoe_embedder.reembedding import TextCatalogue, vectors_of
from eunoe_models.embedding.port import EmbeddingModel, Vectors
from eunoe_stores.catalogue.port import ContainerCatalogue
from eunoe_stores.vectors.port import RowRef
from eunoe_stores.vectors.weaviate import WeaviateSettings, open_weaviate

if TYPE_CHECKING:
    from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex

PASSES = 10
LITTLE = 200
"""Rows that may be written while they are copied; another pass finds them."""
TELL_EVERY = 1_000


class Texts(TextCatalogue, ContainerCatalogue, Protocol):
    """What is read of the catalogue."""


@dataclass(slots=True)
class Outcome:
    """What was done. `is_settled` is false while more is written than is copied; then nothing was switched or dropped."""

    model: str
    generation: int
    current: int
    copied: int = 0
    is_settled: bool = True
    dropped: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)

    @property
    def is_switched(self) -> bool:
        """Whether processes that start from now on work with the new model."""
        return self.current == self.generation


async def reindex(
    settings: WeaviateSettings,
    *,
    catalogue: Texts,
    model: EmbeddingModel,
    switch: bool = True,
    drop: bool = False,
    tell: Callable[[str], None],
) -> Outcome:
    """Fill the model's generation with what its source has, then let the alias name it. When it does already, copy what processes of
    before have written since, and with `drop` remove all other generations.

    Raises `ModelUnavailable`, `StoreUnavailable`, `ConfigurationError`, `SchemaTooNew`.
    """
    profile = model.profile
    async with open_weaviate(settings.model_copy(update={"generation": 0})) as index:
        generations, current = index.generations, index.number
        is_new = await index.bound_model() != profile.model_id
        target = await generations.begin(profile.model_id, profile.dimensions) if is_new else current
        outcome = Outcome(profile.model_id, target, current)
        source = (await generations.label(target)).source
        if source in await generations.numbers() and source is not None:
            async with open_weaviate(settings.model_copy(update={"generation": source})) as old:
                copying = _Copying(old, target, catalogue, model, tell)
                outcome.is_settled = await copying.settle(0 if drop else LITTLE)
                if is_new and switch and outcome.is_settled:
                    await generations.switch(target)
                    outcome.current = target
                    await copying.once()
                outcome.copied = copying.copied
        if drop and outcome.is_settled and outcome.is_switched and not is_new:
            for number in await generations.numbers():
                if number != target:
                    await generations.drop(number)
                    outcome.dropped.append(number)
        outcome.others = [number for number in await generations.numbers() if number != outcome.current]
        return outcome


class _Copying:
    """From one generation into another one, pass after pass."""

    def __init__(
        self, source: WeaviateVectorIndex, target: int, catalogue: Texts, model: EmbeddingModel, tell: Callable[[str], None]
    ) -> None:
        self._source = source
        self._target = target
        self._catalogue = catalogue
        self._model = model
        self._tell = tell
        self.copied = 0
        self._embedded = 0

    async def settle(self, little: int) -> bool:
        """Copy until a pass found no more than that to do; false when that does not come about."""
        for _ in range(PASSES):
            if await self.once() <= little:
                return True
        return False

    async def once(self) -> int:
        """One pass over all tenants; returns how many rows it changed."""
        tenants = await self._catalogue.tenants()
        rows = sum([await self._source.count(tenant) for tenant in tenants])
        self._embedded = 0

        async def embed(tenant: str, refs: Sequence[RowRef]) -> Mapping[UUID, Vectors]:
            made = await vectors_of(tenant, refs, catalogue=self._catalogue, model=self._model)
            before, self._embedded = self._embedded, self._embedded + len(made)
            if before // TELL_EVERY != self._embedded // TELL_EVERY:
                self._tell(f"generation {self._target}: {self._embedded} rows embedded in this pass; the index has {rows}")
            return made

        changed = sum([await self._source.catch_up(self._target, tenant, embed) for tenant in tenants])
        self._tell(f"generation {self._target}: {changed} of {rows} rows copied or removed in this pass")
        self.copied += changed
        return changed
