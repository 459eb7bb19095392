"""Stores that are open already, for tests of a process: here, and for users who write a service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import StoreUnavailable

from eunoe_process.stores import Kinds, StoreKind, StoreName


def ready_made(**stores: Any) -> Callable[[Collection[StoreName]], Kinds]:
    """`kinds` for `run_process` that hand out these objects, by the names of `StoreName`'s members in small letters. One that is an
    exception is raised when the process opens it, as by a store that cannot be reached.
    """

    def kind(store: Any) -> StoreKind:
        @asynccontextmanager
        async def opened(_settings: Any, _clock: Clock, _ids: Ids) -> AsyncIterator[Any]:
            if isinstance(store, Exception):
                raise store
            yield store

        return StoreKind(None, opened)

    by_name: Mapping[StoreName, StoreKind] = {StoreName[name.upper()]: kind(each) for name, each in stores.items()}
    unnamed = kind(StoreUnavailable("no such store was given to this test"))
    return lambda names: {name: by_name.get(name, unnamed) for name in names}
