"""The admin port: plain HTTP for probes and Prometheus, apart from the public doors. Nothing here has tenants or content in it.

`/live`: the event loop turns. `/serving`: the start is over and the stop has not begun; what a load balancer should look at.
`/ready`: every part with its reason, for people and monitors; a store that is down makes all replicas not ready at once.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from eunoe_telemetry.metrics import Metrics
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from eunoe_process.readiness import Probe, ask

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
JSON = "application/json"


@dataclass(slots=True)
class AdminPort:
    """An ASGI application. `phase` is `starting`, `serving` or `stopping`."""

    name: str
    version: str
    metrics: Metrics
    probes: dict[str, Probe] = field(default_factory=dict)
    probe_timeout_s: float = 2.0
    phase: str = "starting"

    async def __call__(self, scope: Scope, receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        """Answer one request."""
        del receive
        if scope["type"] != "http":
            return
        routes = {"/live": self._live, "/serving": self._serving, "/ready": self._ready, "/metrics": self._metrics}
        route = routes.get(scope["path"])
        if route is None:
            status, kind, body = HTTPStatus.NOT_FOUND, JSON, _json({"paths": sorted(routes)})
        elif scope["method"] not in {"GET", "HEAD"}:
            status, kind, body = HTTPStatus.METHOD_NOT_ALLOWED, JSON, _json({"allowed": ["GET", "HEAD"]})
        else:
            status, kind, body = await route()
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": int(status), "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _live(self) -> tuple[HTTPStatus, str, bytes]:
        return HTTPStatus.OK, JSON, _json({"live": True, "process": self.name, "version": self.version})

    async def _serving(self) -> tuple[HTTPStatus, str, bytes]:
        serves = self.phase == "serving"
        return _status(serves), JSON, _json({"serving": serves, "phase": self.phase})

    async def _ready(self) -> tuple[HTTPStatus, str, bytes]:
        parts = await ask(self.probes, self.probe_timeout_s)
        ready = self.phase == "serving" and all(each.ok for each in parts.values())
        told = {name: {"ok": each.ok, "reason": each.reason} for name, each in parts.items()}
        return _status(ready), JSON, _json({"ready": ready, "phase": self.phase, "parts": told})

    async def _metrics(self) -> tuple[HTTPStatus, str, bytes]:
        return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self.metrics.registry)


def _status(good: bool) -> HTTPStatus:
    return HTTPStatus.OK if good else HTTPStatus.SERVICE_UNAVAILABLE


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
