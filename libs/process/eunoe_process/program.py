"""What a service tells of its process, and what it is given: the contract between `run` and each `main.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from eunoe_contracts.clock import Clock, Ids
from eunoe_stream.subscription import AddServicer, Service
from eunoe_telemetry.metrics import Metrics

from eunoe_process.config import InternalSettings, ProcessSettings
from eunoe_process.readiness import Probe
from eunoe_process.settings_table import Loaded, Owner
from eunoe_process.stores import StoreName, Stores


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a program is given when its stores are open. `probes` is live: what is added to it is asked from then on."""

    stores: Stores
    settings: Mapping[Owner, Any]
    clock: Clock
    ids: Ids
    metrics: Metrics
    probes: dict[str, Probe]

    def setting(self, owner: type[Loaded]) -> Loaded:
        """The loaded settings of a class that the program named."""
        return cast("Loaded", self.settings[owner])

    @property
    def internal(self) -> InternalSettings:
        """How the other processes are called."""
        return self.setting(InternalSettings)


Doors: TypeAlias = Callable[[tuple[AddServicer, ...]], AbstractAsyncContextManager[Mapping[str, str]]]
"""Opens the public doors with all servicers of the process; yields their addresses by name."""


async def nothing() -> None:
    """There is nothing to finish."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a program runs. With `doors` its servicers are public and stand behind them; without, they stand behind the internal door.

    `finish` is awaited when the doors are closed, before the handlers are drained.
    """

    services: tuple[Service, ...]
    doors: Doors | None = None
    finish: Callable[[], Awaitable[None]] = nothing


Assemble: TypeAlias = Callable[[Surroundings], AbstractAsyncContextManager[Assembly]]


@dataclass(frozen=True, slots=True)
class Program:
    """One process: its name and port, the stores it opens, the settings it reads, and how it is put together."""

    name: str
    about: str
    admin_port: int
    stores: frozenset[StoreName]
    settings: tuple[Owner, ...]
    assemble: Assemble
    grpc_port: int | None = None
    """Port of the internal door; None for a program that other processes do not call."""
    calls: Callable[[InternalSettings], tuple[str, ...]] = field(default=lambda _: ())
    """Addresses of other processes that it calls."""
    refusal: str = ""
    """Why it cannot run in this version; then it ends at once and says so."""

    @property
    def owners(self) -> tuple[Owner, ...]:
        """Its settings classes without those of its stores."""
        return (ProcessSettings, InternalSettings, *self.settings)
