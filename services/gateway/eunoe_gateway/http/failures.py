"""Errors of this door: `{"detail", "code", "request_id"}` with the right status; unexpected ones are logged, never shown."""

from __future__ import annotations

import math
import traceback
from http import HTTPStatus

import structlog
from eunoe_contracts.errors import EunoeError, InternalError, InvalidRequest, Unauthenticated, as_eunoe_error
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

log = structlog.get_logger("eunoe.http")


class Failure(BaseModel):
    """Every error of this door. `code` is stable; branch on it, never on `detail`."""

    detail: str
    code: str
    request_id: str


def request_id(request: Request) -> str:
    """The id that the guard gave this request."""
    return str(getattr(request.state, "request_id", ""))


def answer(status: int, code: str, detail: str, identity: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error in this door's shape."""
    return JSONResponse(Failure(detail=detail, code=code, request_id=identity).model_dump(), status, headers)


def failure(error: EunoeError, identity: str) -> JSONResponse:
    """The answer for an error of ours."""
    headers = {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after_s)))
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = "Bearer"
    return answer(error.http_status, error.code, error.message, identity, headers)


def known(error: Exception, *, identity: str, path: str) -> EunoeError:
    """The error as one of ours, logged when it is the server's fault: by type and place, because messages of foreign errors may
    hold content.
    """
    named = as_eunoe_error(error)
    if isinstance(named, InternalError):
        stack = "".join(traceback.format_tb(error.__traceback__))
        log.error("unexpected_failure", request_id=identity, path=path, error=type(error).__name__, stack=stack)
    elif named.http_status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("request_failed", request_id=identity, path=path, code=named.code)
    return named


async def _ours(request: Request, error: Exception) -> JSONResponse:
    identity = request_id(request)
    return failure(known(error, identity=identity, path=request.url.path), identity)


async def _gone(request: Request, _error: Exception) -> JSONResponse:
    return failure(InvalidRequest("the connection was closed before the body ended"), request_id(request))


async def _invalid_parameter(request: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {"loc": ("request",), "msg": "not valid"}
    return answer(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_field", f"{first['loc'][-1]}: {first['msg']}", request_id(request))


async def _routing(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    code, detail = {
        HTTPStatus.NOT_FOUND: ("not_found", "there is no such path on this server; /docs lists them"),
        HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed", "this path does not have that method; /docs lists them"),
    }.get(HTTPStatus(status), ("invalid_request", HTTPStatus(status).phrase))
    return answer(status, code, detail, request_id(request), headers)


def install(app: FastAPI) -> None:
    """Register the handlers. What they do not know is answered by the guard."""
    app.add_exception_handler(EunoeError, _ours)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(RequestValidationError, _invalid_parameter)
    app.add_exception_handler(HTTPException, _routing)
