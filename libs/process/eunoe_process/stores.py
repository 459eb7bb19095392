"""The stores that a process asks for, and only those."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import TransientError
from eunoe_stores.blobs.port import BlobStore
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stores.vectors.port import VectorIndex
from eunoe_stream.ledger import StageLedger
from eunoe_stream.log import Log

from eunoe_process.settings_table import Owner


class StoreName(StrEnum):
    """The ports that a process may ask for."""

    CATALOGUE = "catalogue"
    BLOBS = "blobs"
    VECTORS = "vector index"
    GRAPH = "graph"
    LOG = "log"


Open: TypeAlias = Callable[[Any, Clock, Ids], AbstractAsyncContextManager[Any]]
"""Opens a store with its loaded settings."""
Ask: TypeAlias = Callable[[], Awaitable[str]]
"""Why the process must end, since only a new start would mend the store's client; empty while it need not."""
Watch: TypeAlias = Callable[[Any, Any, Clock], Ask]
"""Makes that question from an opened store and its settings."""


@dataclass(frozen=True, slots=True)
class StoreKind:
    """How a store is opened, the class of the settings that it needs (None when it needs none), and how one sees that it is broken."""

    settings: Owner | None
    open: Open
    watch: Watch | None = None


Kinds: TypeAlias = Mapping[StoreName, StoreKind]


@dataclass(frozen=True, slots=True)
class Stores:
    """What was opened. Asking for a store that the program did not name is a defect of the program, and a `LookupError`."""

    opened: Mapping[StoreName, Any] = field(default_factory=dict)
    watches: tuple[Ask, ...] = ()

    def _get(self, name: StoreName) -> Any:
        try:
            return self.opened[name]
        except KeyError:
            raise LookupError(f"this process did not ask for the {name}") from None

    @property
    def catalogue(self) -> Catalogue:
        """The system of record."""
        found: Catalogue = self._get(StoreName.CATALOGUE)
        return found

    @property
    def ledger(self) -> StageLedger:
        """The catalogue as the runner sees it."""
        found: StageLedger = self._get(StoreName.CATALOGUE)
        return found

    @property
    def blobs(self) -> BlobStore:
        """Raw bytes."""
        found: BlobStore = self._get(StoreName.BLOBS)
        return found

    @property
    def vectors(self) -> VectorIndex:
        """Vectors and words."""
        found: VectorIndex = self._get(StoreName.VECTORS)
        return found

    @property
    def graph(self) -> GraphStore:
        """Relationships."""
        found: GraphStore = self._get(StoreName.GRAPH)
        return found

    @property
    def log(self) -> Log:
        """Events."""
        found: Log = self._get(StoreName.LOG)
        return found


class Unreachable(Exception):
    """A store did not answer at start."""


@asynccontextmanager
async def open_stores(
    names: Collection[StoreName], kinds: Kinds, settings: Mapping[Owner, Any], *, clock: Clock, ids: Ids, within_s: float
) -> AsyncIterator[Stores]:
    """Open these, close them in the opposite order. Raises `Unreachable` naming the store, and what the adapters raise for set-up."""
    opened: dict[StoreName, Any] = {}
    watches: list[Ask] = []
    async with AsyncExitStack() as stack:
        deadline = asyncio.get_running_loop().time() + within_s
        for name in StoreName:
            if name in names:
                kind = kinds[name]
                loaded = settings[kind.settings] if kind.settings is not None else None
                try:
                    async with asyncio.timeout_at(deadline):
                        opened[name] = await stack.enter_async_context(kind.open(loaded, clock, ids))
                except TimeoutError:
                    raise Unreachable(f"the {name} did not answer within {within_s:g} s") from None
                except TransientError as error:
                    raise Unreachable(f"the {name} cannot be reached: {error.message}") from error
                if kind.watch is not None:
                    watches.append(kind.watch(opened[name], loaded, clock))
        yield Stores(opened, tuple(watches))
