"""What a service offers to a process: subscriptions, gRPC servicers and background tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from eunoe_contracts.events import Event
from eunoe_contracts.stages import Stage

Handler: TypeAlias = Callable[[Event], Awaitable[Sequence[Event]]]
Undo: TypeAlias = Callable[[Event], Awaitable[None]]
Advance: TypeAlias = Callable[[], int]
"""A number that grows while something works: the texts that a model has computed."""
AddServicer: TypeAlias = Callable[[Any], None]
"""Adds a servicer to a `grpc.aio.Server`; `Any` because this library does not import gRPC."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A handler on a topic. Event in, events out; the runner publishes them, writes the ledger and commits.

    `stage` names the ledger row the handler fills; None for handlers that only react. `undo` removes what the handler wrote
    when the fence fell while it worked. `concurrency` counts distinct keys in flight per partition.

    A run longer than `deadline_s` is stopped, and that is a failed attempt. Not so when `advance` grew meanwhile, which tells of what
    the handlers wait for: such a handler keeps what it has done and goes on at the next try, for three days at most.
    """

    topic: str
    group: str
    handler: Handler
    stage: Stage | None = None
    undo: Undo | None = None
    concurrency: int = 64
    deadline_s: float = 60.0
    max_attempts: int = 5
    advance: Advance | None = None


@dataclass(frozen=True, slots=True)
class Background:
    """A task that runs as long as the process; it is cancelled on stop."""

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Service:
    """Everything a process runs for one service."""

    name: str
    subscriptions: tuple[Subscription, ...] = ()
    servicers: tuple[AddServicer, ...] = ()
    background: tuple[Background, ...] = field(default=())
