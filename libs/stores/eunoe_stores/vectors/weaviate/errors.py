"""From the client's errors to ours. Messages name the kind of trouble only: those of the client and the server may hold content.

The server tells by texts alone what became of a query or an object, so texts decide here, once.
"""

from __future__ import annotations

from collections.abc import Iterable

import grpc
import httpx
from eunoe_contracts.errors import ConfigurationError, ContentError, EunoeError, InternalError, ModelMismatch, StorageFull, StoreUnavailable
from weaviate import exceptions as weaviate

_OUTAGES = (
    weaviate.WeaviateConnectionError,
    weaviate.WeaviateTimeoutError,
    weaviate.WeaviateRetryError,
    weaviate.WeaviateGRPCUnavailableError,
    weaviate.WeaviateStartUpError,
    weaviate.WeaviateClosedClientError,
    httpx.TransportError,
    grpc.RpcError,
)
LIBRARY = (weaviate.WeaviateBaseError, httpx.HTTPError, grpc.RpcError)
"""Everything that the client raises."""
_DENIED = (weaviate.InsufficientPermissionsError, weaviate.AuthenticationFailedError)
_REFUSED = (401, 403)
_TENANT = "tenant not found"
_LENGTHS = ("vector lengths don't match", "vector length", "vector dimension", "vectors length", "length of vector")
_FULL = ("read-only", "readonly", "no space left", "disk usage")
_LATER = (
    "deadline", "canceled", "cancelled", "unavailable", "timeout", "timed out", "connect", "leader", "memory", "retries", "shutting down",
    "shutdown", "not ready", "not loaded", "rate limit", "too many", "eof", "broken pipe",
)  # fmt: skip
_DENIALS = ("rbac", "forbidden", "unauthorized", "permission")


class TenantAbsent(Exception):
    """Nothing was ever written for the tenant. Stays inside of this package."""


def mapped(error: Exception) -> EunoeError | TenantAbsent:
    """The error of a call."""
    if isinstance(error, TimeoutError):
        return StoreUnavailable("weaviate did not answer in time")
    kind = type(error).__name__
    if is_denied(error):
        return StoreUnavailable(f"weaviate refuses the credentials ({kind})")
    if isinstance(error, _OUTAGES):
        return StoreUnavailable(f"weaviate did not answer ({kind})")
    text = str(error).lower()
    if isinstance(error, weaviate.UnexpectedStatusCodeError):
        return _of_text(text, f"{kind} {error.status_code}")
    return _of_text(text, kind)


def at_start(error: Exception) -> EunoeError | TenantAbsent:
    """The error of the first call: credentials that are refused do not mend themselves."""
    if is_denied(error):
        return ConfigurationError("weaviate refuses the credentials; see EUNOE_WEAVIATE__API_KEY")
    return mapped(error)


def is_denied(error: Exception) -> bool:
    """Whether the credentials were refused."""
    if isinstance(error, weaviate.UnexpectedStatusCodeError):
        return error.status_code in _REFUSED
    return isinstance(error, _DENIED)


def of_objects(messages: Iterable[str], *, refused: int, sent: int) -> EunoeError:
    """The error of a batch of which some objects were refused: retryable as soon as one of them may be taken later."""
    texts = [message.lower() for message in messages]
    told = f"weaviate did not take {refused} of {sent} rows"
    if any(_has(text, _FULL) for text in texts):
        return StorageFull(told)
    if any(_has(text, _LATER) or _has(text, _DENIALS) for text in texts):
        return StoreUnavailable(told)
    if any(_has(text, _LENGTHS) for text in texts):
        return ModelMismatch()
    return ContentError(told)


def _of_text(text: str, kind: str) -> EunoeError | TenantAbsent:
    if _TENANT in text:
        return TenantAbsent()
    if _has(text, _LENGTHS):
        return ModelMismatch()
    if _has(text, _FULL):
        return StorageFull()
    if _has(text, _DENIALS):
        return StoreUnavailable(f"weaviate refuses the credentials ({kind})")
    if _has(text, _LATER):
        return StoreUnavailable(f"weaviate did not answer ({kind})")
    return InternalError(f"weaviate could not do it ({kind})")


def _has(text: str, parts: Iterable[str]) -> bool:
    return any(part in text for part in parts)
