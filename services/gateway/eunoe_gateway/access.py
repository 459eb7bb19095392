"""Scope checks."""

from __future__ import annotations

from eunoe_contracts.errors import PermissionDenied
from eunoe_contracts.tenancy import Principal, Scope


def require(who: Principal, scope: Scope) -> str:
    """The caller's tenant, or `PermissionDenied` when the token lacks the scope."""
    if not who.may(scope):
        raise PermissionDenied(f"This token does not have the scope '{scope}' that the call needs.")
    return who.tenant


def require_any(who: Principal, *scopes: Scope) -> str:
    """The caller's tenant, or `PermissionDenied` when the token has none of the scopes."""
    if not any(who.may(scope) for scope in scopes):
        named = "' or '".join(scopes)
        raise PermissionDenied(f"This token does not have the scope '{named}' that the call needs.")
    return who.tenant
