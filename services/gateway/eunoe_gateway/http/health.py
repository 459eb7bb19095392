"""`/` (what this is), `/health` (MemoryDB's shape), `/live`, `/ready`, `/metrics`: open, without tenants or content in them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from eunoe_gateway.http.guard import DoorParam
from eunoe_gateway.protobuf import plain

router = APIRouter(tags=["health"])


@router.head("/", include_in_schema=False)
@router.get("/")
async def about(request: Request) -> dict[str, Any]:
    """What answers here, and where to go on: for who opens the address in a browser."""
    app = request.app
    return {
        "name": app.title,
        "description": app.description,
        "version": app.version,
        "docs": "/docs",
        "openapi": app.openapi_url,
        "health": "/health",
        "ready": "/ready",
    }


@router.head("/health", include_in_schema=False)
@router.get("/health")
async def health(request: Request) -> dict[str, Any]:
    """MemoryDB's answer; says only that the process answers."""
    return {"status": "healthy", "version": request.app.version}


@router.head("/live", include_in_schema=False)
@router.get("/live")
async def live() -> dict[str, Any]:
    """The process is alive; depends on nothing else."""
    return {"live": True}


@router.head("/ready", include_in_schema=False)
@router.get("/ready")
async def ready(door: DoorParam) -> JSONResponse:
    """200 when everything works, else 503 with a reason per part."""
    found = await door.application.readiness()
    return JSONResponse(
        {"ready": found.ready, "parts": plain(found.parts)}, HTTPStatus.OK if found.ready else HTTPStatus.SERVICE_UNAVAILABLE
    )


@router.head("/metrics", include_in_schema=False)
@router.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Prometheus text format."""
    return Response(generate_latest(request.app.state.metrics.registry), media_type=CONTENT_TYPE_LATEST)
