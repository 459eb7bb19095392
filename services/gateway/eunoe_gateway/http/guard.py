"""What every request passes first: request id, trace, `Host` and `Origin` checks, authentication, metrics.

A page in the user's browser can reach a loopback port. It cannot set `Host` (DNS rebinding shows the attacker's name there) nor
forge `Origin` or `Sec-Fetch-Site`, and JSON routes refuse the content types that need no preflight (Fetch standard, CORS).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from eunoe_contracts.clock import Ids
from eunoe_contracts.errors import Unauthenticated
from eunoe_contracts.tenancy import Principal
from eunoe_contracts.trace import HEADER as TRACE_HEADER
from eunoe_safety.web_guard import check_host, check_origin
from eunoe_telemetry.metrics import Metrics
from fastapi import Depends, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eunoe_gateway import tracing
from eunoe_gateway.application import Application
from eunoe_gateway.http.event_stream import KEEP_ALIVE_S
from eunoe_gateway.http.failures import failure, known

BEARER = re.compile(r"Bearer\s+(\S+)\s*\Z", re.IGNORECASE)
CALLER_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNKNOWN_CALLER = "Missing or invalid API token"
"""MemoryDB's words; the same for every reason, so that nobody learns which tokens were once valid."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
}
"""On every answer that does not set its own."""


@dataclass(frozen=True, slots=True)
class Door:
    """What the routes need of this door."""

    application: Application
    is_loopback: bool
    max_json_bytes: int
    keep_alive_s: float = KEEP_ALIVE_S


class Guard:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str], origins: Sequence[str], metrics: Metrics, ids: Ids) -> None:
        # A page that this server itself gave out has one of the server's hosts as its origin.
        self._app, self._hosts, self._origins, self._metrics, self._ids = app, tuple(hosts), (*origins, *hosts), metrics, ids

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, pass on, count. An error that nobody expected is answered with 500, or ends the connection of a begun answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        identity = given if CALLER_ID.match(given) else self._ids.new()
        scope.setdefault("state", {})["request_id"] = identity
        tracing.enter(headers.getlist(TRACE_HEADER), self._ids)
        started, status = time.monotonic(), 0

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answer = MutableHeaders(scope=message)
                answer["x-request-id"] = identity
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
            await send(message)

        try:
            check_host(headers.get("host", ""), self._hosts)
            check_origin(headers.get("origin"), headers.get("sec-fetch-site"), headers.get("host"), self._origins)
            await self._app(scope, receive, respond)
        except Exception as error:  # noqa: BLE001 - the last place that can still answer in this door's shape
            named = known(error, identity=identity, path=scope["path"])
            if status:
                raise named from None
            await failure(named, identity)(scope, receive, respond)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            label = f"{method} {getattr(scope.get('route'), 'path', 'unmatched')}"
            self._metrics.count("gateway_requests_total", method=label, code=str(status or 500))
            self._metrics.observe("gateway_request_duration_seconds", time.monotonic() - started, method=label)


def bearer(request: Request) -> str:
    """The secret of the request, empty when there is none. Raises `Unauthenticated` for another scheme."""
    header = request.headers.get("authorization", "")
    if not header:
        return ""
    found = BEARER.match(header)
    if found is None:
        raise Unauthenticated(UNKNOWN_CALLER)
    return found.group(1)


def door_of(request: Request) -> Door:
    """The door this request came through."""
    door: Door = request.app.state.door
    return door


async def principal_of(request: Request, door: Annotated[Door, Depends(door_of)]) -> Principal:
    """Who is calling; raises `Unauthenticated`, always with the same words."""
    try:
        return await door.application.authenticate(bearer(request), loopback=door.is_loopback)
    except Unauthenticated as error:
        raise Unauthenticated(UNKNOWN_CALLER) from error


DoorParam = Annotated[Door, Depends(door_of)]
Who = Annotated[Principal, Depends(principal_of)]
