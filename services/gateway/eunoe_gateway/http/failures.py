"""Errors of this door: `{"detail", "code", "request_id"}` with the right status; unexpected ones are logged, never shown."""

from __future__ import annotations

from http import HTTPStatus

import structlog
from eunoe_contracts.errors import EunoeError, as_eunoe_error
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

log = structlog.get_logger("eunoe.http")


def request_id(request: Request) -> str:
    """The id that the guard gave this request."""
    return str(getattr(request.state, "request_id", ""))


def failure(error: EunoeError, identity: str) -> JSONResponse:
    """The answer for an error of ours."""
    headers = {"retry-after": str(max(1, round(error.retry_after_s)))} if error.retry_after_s is not None else {}
    body = {"detail": error.message, "code": error.code, "request_id": identity}
    return JSONResponse(body, error.http_status, headers)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    known = as_eunoe_error(error)
    if known.http_status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("request_failed", request_id=request_id(request), code=known.code, path=request.url.path)
    return failure(known, request_id(request))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("unexpected_failure", request_id=request_id(request), path=request.url.path, exc_info=error)
    return failure(as_eunoe_error(error), request_id(request))


async def _routing(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    codes = {HTTPStatus.NOT_FOUND: ("not_found", f"there is no {request.url.path} on this server; see /docs")}
    codes[HTTPStatus.METHOD_NOT_ALLOWED] = ("method_not_allowed", f"{request.method} is not a method of {request.url.path}; see /docs")
    code, detail = codes.get(HTTPStatus(status), ("invalid_request", HTTPStatus(status).phrase))
    return JSONResponse({"detail": detail, "code": code, "request_id": request_id(request)}, status)


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(EunoeError, _ours)
    app.add_exception_handler(HTTPException, _routing)
    app.add_exception_handler(Exception, _unexpected)
