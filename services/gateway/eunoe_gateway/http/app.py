"""The FastAPI application of the HTTP door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eunoe_contracts.clock import Ids
from eunoe_telemetry.metrics import Metrics
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from eunoe_gateway.application import Application
from eunoe_gateway.http import admin, direct_upload, docs_page, documents, failures, health, memories, search, upload
from eunoe_gateway.http.event_stream import KEEP_ALIVE_S
from eunoe_gateway.http.guard import Door, Guard

ROUTERS = (
    health.router,
    upload.router,
    direct_upload.router,
    documents.router,
    memories.router,
    search.router,
    admin.router,
    docs_page.router,
)
METHODS = ("GET", "POST", "PATCH", "DELETE")
REQUEST_HEADERS = ("authorization", "content-type", "idempotency-key", "last-event-id", "traceparent", "x-request-id")
FAILURE: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "An error; `code` is stable.",
        "content": {"application/json": {"schema": failures.Failure.model_json_schema()}},
    }
}


def build_http(
    application: Application,
    *,
    metrics: Metrics,
    ids: Ids,
    is_loopback: bool,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    max_json_bytes: int = 16 * 1024 * 1024,
    keep_alive_s: float = KEEP_ALIVE_S,
    version: str = "0.1.0",
) -> FastAPI:
    """The door. `hosts` are allowed beside loopback names; `origins` (as `https://app.example`) are web pages that may call it, read
    included, beside its own; `is_loopback` tells whether the
    listener can be reached from this machine only, which is what anonymous calls need.
    """
    # FastAPI's own pages load scripts from elsewhere.
    app = FastAPI(
        title="eunoe",
        version=version,
        description="Any document in, one cited answer out.",
        docs_url=None,
        redoc_url=None,
        responses=FAILURE,
    )
    app.state.door = Door(application, is_loopback, max_json_bytes, keep_alive_s)
    app.state.metrics = metrics
    for router in ROUTERS:
        app.include_router(router)
    failures.install(app)
    if origins:
        # Without it a page that may write still could not read the answers. The guard stands outside and refuses all others.
        app.add_middleware(CORSMiddleware, allow_origins=list(origins), allow_methods=METHODS, allow_headers=REQUEST_HEADERS)
    app.add_middleware(Guard, hosts=hosts, origins=origins, metrics=metrics, ids=ids)
    return app
