"""The trace of the call in work: continued from the caller's `traceparent` or begun here, and carried by the events it causes."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar

from eunoe_contracts.clock import Ids
from eunoe_contracts.trace import Trace, parse

_TRACE: ContextVar[str] = ContextVar("eunoe_trace", default="")


def enter(given: Sequence[str], ids: Ids) -> None:
    """For a door, at the start of each call: go on with the caller's trace, or begin one. Two headers are as good as none."""
    found = parse(given[0]) if len(given) == 1 else None
    _TRACE.set(str(found.step(_step(ids)) if found else _begun(ids)))


def current() -> str:
    """The trace of the call that this task works for, as a `traceparent`; empty outside of calls."""
    return _TRACE.get()


def of_call(ids: Ids) -> str:
    """The same; a new one where no door has begun one."""
    return current() or str(_begun(ids))


def _begun(ids: Ids) -> Trace:
    return Trace(ids.new(), _step(ids))


def _step(ids: Ids) -> str:
    return ids.new()[16:]
