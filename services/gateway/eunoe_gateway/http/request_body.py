"""Reading bodies: bounded in size and in waiting, UTF-8 only, unknown fields refused or named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, TypeVar

from eunoe_contracts.errors import InvalidEncoding, InvalidField, InvalidRequest, PayloadTooLarge, UnknownField, UnsupportedContentType
from eunoe_safety.web_guard import check_json_content_type
from fastapi import Request
from pydantic import BaseModel, ValidationError

from eunoe_gateway.http.json_values import parse_json

Model = TypeVar("Model", bound=BaseModel)
MAX_JSON_BYTES = 1024 * 1024
IDLE_S = 30.0
MAX_NAMED, MAX_NAME = 20, 100


async def body_of(request: Request, *, idle_s: float = IDLE_S) -> AsyncIterator[bytes]:
    """The body as it arrives. Raises `InvalidRequest` when nothing comes for `idle_s` (a vanished client would hold its upload
    open for ever), `UnsupportedContentType` for a compressed body.
    """
    if request.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise UnsupportedContentType("send the body without a Content-Encoding")
    chunks = request.stream()
    while True:
        try:
            async with asyncio.timeout(idle_s):
                chunk = await anext(chunks, None)
        except TimeoutError as error:
            raise InvalidRequest("the body stopped arriving; send the request again") from error
        if chunk is None:
            return
        if chunk:
            yield chunk


async def read_json(request: Request, *, limit: int = MAX_JSON_BYTES, optional: bool = False) -> dict[str, Any]:
    """The body as a JSON object. An absent or empty body and `null` are `{}` when `optional`.

    Raises `UnsupportedContentType`, `PayloadTooLarge`, `InvalidEncoding`, `InvalidRequest`, `InvalidField`.
    """
    if optional:
        refuse_forms(request)
    else:
        check_json_content_type(request.headers.get("content-type", ""))
    body = await read_bounded(request, limit)
    if not body.strip():
        if optional:
            return {}
        raise InvalidRequest("the body is empty; send a JSON object")
    check_json_content_type(request.headers.get("content-type", ""))
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidEncoding from error
    value = parse_json(text)
    if optional and value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidRequest("the body must be a JSON object")
    return value


def refuse_forms(request: Request) -> None:
    """For calls that need no body: a form always names its type, so a type other than JSON is refused also without a body."""
    if "content-type" in request.headers:
        check_json_content_type(request.headers["content-type"])


async def read_bounded(request: Request, limit: int) -> bytes:
    """The whole body, refused as soon as it passes the limit, before the first byte when it says its length."""
    refused = PayloadTooLarge(f"the body is larger than {limit} bytes; large contents go to /v1/documents/upload")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and (len(declared) > len(str(limit)) or int(declared) > limit):
        raise refused
    parts, size = [], 0
    async for chunk in body_of(request):
        size += len(chunk)
        if size > limit:
            raise refused
        parts.append(chunk)
    return b"".join(parts)


def validated(model: type[Model], values: Mapping[str, Any]) -> Model:
    """The values as the model; raises `UnknownField` or `InvalidField` naming the first field that is wrong."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])[:MAX_NAME] or "body"
        if first["type"] == "extra_forbidden":
            known = ", ".join(sorted(model.model_fields))
            raise UnknownField(f"unknown field '{name}'; known fields: {known}") from None
        raise InvalidField(f"{name}: {first['msg']}") from None


def ignored(names: Iterable[str]) -> list[str]:
    """Warnings for fields of an ingest call that nobody knows; they are accepted, as the originals do."""
    unknown = sorted(set(names))
    warnings = [f"unknown field '{name[:MAX_NAME]}' was ignored" for name in unknown[:MAX_NAMED]]
    return [*warnings, f"{len(unknown) - MAX_NAMED} more unknown fields were ignored"] if len(unknown) > MAX_NAMED else warnings


async def known_parameters(request: Request) -> None:
    """Dependency: raises `UnknownField` for a query parameter that the route does not have; a filter is never ignored."""
    known = sorted(each.alias for each in request.scope["route"].dependant.query_params)
    for name in request.query_params:
        if name not in known:
            raise UnknownField(f"unknown parameter '{name[:MAX_NAME]}'; known parameters: {', '.join(known) or 'none'}")


def schema_of(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """OpenAPI description of a JSON body that the route reads itself."""
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": model.model_json_schema()}}}}
