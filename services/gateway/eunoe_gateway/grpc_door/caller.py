"""Who is calling, set by the guard for the length of one call."""

from __future__ import annotations

from contextvars import ContextVar

from eunoe_contracts.errors import Unauthenticated
from eunoe_contracts.tenancy import Principal

_CALLER: ContextVar[Principal | None] = ContextVar("eunoe_grpc_caller", default=None)


def enter(who: Principal) -> None:
    """Set the caller of this task; a gRPC call is one task."""
    _CALLER.set(who)


def caller() -> Principal:
    """The caller. Raises `Unauthenticated` when a servicer is reached without the guard."""
    who = _CALLER.get()
    if who is None:
        raise Unauthenticated
    return who
