"""The FastAPI application of the HTTP door."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from eunoe_contracts.clock import Ids
from eunoe_telemetry.metrics import Metrics
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from eunoe_gateway.application import Application
from eunoe_gateway.http import admin, documents, failures, health, memories, search, upload
from eunoe_gateway.http.guard import Door, Guard

ROUTERS = (health.router, upload.router, documents.router, memories.router, search.router, admin.router)


async def _invalid_parameter(request: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": ("request",), "msg": "not valid"}
    detail = f"{first['loc'][-1]}: {first['msg']}"
    body = {"detail": detail, "code": "invalid_field", "request_id": failures.request_id(request)}
    return JSONResponse(body, HTTPStatus.UNPROCESSABLE_ENTITY)


def build_http(
    application: Application,
    *,
    metrics: Metrics,
    ids: Ids,
    is_loopback: bool,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    max_json_bytes: int = 16 * 1024 * 1024,
    version: str = "0.1.0",
) -> FastAPI:
    """The door. `hosts` and `origins` are allowed beside loopback names and the host itself; `is_loopback` tells whether the
    listener can be reached from this machine only, which is what anonymous calls need.
    """
    app = FastAPI(title="eunoe", version=version, description="Any document in, one cited answer out.")
    app.state.door = Door(application, is_loopback, max_json_bytes)
    app.state.metrics = metrics
    for router in ROUTERS:
        app.include_router(router)
    failures.install(app)
    app.add_exception_handler(RequestValidationError, _invalid_parameter)
    app.add_middleware(Guard, hosts=hosts, origins=origins, metrics=metrics, ids=ids)
    return app
