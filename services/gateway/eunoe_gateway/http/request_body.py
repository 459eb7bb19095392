"""Reading JSON bodies: bounded, UTF-8 only, unknown fields refused or named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from eunoe_contracts.errors import InvalidEncoding, InvalidField, InvalidRequest, PayloadTooLarge, UnknownField
from eunoe_safety.web_guard import check_json_content_type
from fastapi import Request
from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound=BaseModel)
MAX_JSON_BYTES = 64 * 1024 * 1024


async def read_json(request: Request, *, limit: int = MAX_JSON_BYTES, optional: bool = False) -> dict[str, Any]:
    """The body as a JSON object. An absent or empty body is `{}` when `optional`.

    Raises `UnsupportedContentType`, `PayloadTooLarge`, `InvalidEncoding`, `InvalidRequest`.
    """
    body = await read_bounded(request, limit)
    if optional and not body.strip():
        return {}
    check_json_content_type(request.headers.get("content-type", ""))
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidEncoding from error
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("the body is not valid JSON") from error
    if optional and value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidRequest("the body must be a JSON object")
    return value


async def read_bounded(request: Request, limit: int) -> bytes:
    """The whole body, refused as soon as it passes the limit."""
    parts, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise PayloadTooLarge(f"the body is larger than {limit} bytes")
        parts.append(chunk)
    return b"".join(parts)


def validated(model: type[Model], values: Mapping[str, Any]) -> Model:
    """The values as the model; raises `UnknownField` or `InvalidField` naming the first field that is wrong."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"]) or "body"
        if first["type"] == "extra_forbidden":
            known = ", ".join(sorted(model.model_fields))
            raise UnknownField(f"unknown field '{name}'; known fields: {known}") from None
        raise InvalidField(f"{name}: {first['msg']}") from None


def unknown_fields(model: BaseModel) -> list[str]:
    """Warnings for fields of an ingest body that nobody knows; they are accepted, as the originals do."""
    return [f"unknown field '{name}' was ignored" for name in sorted(model.model_extra or {})]


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """OpenAPI description of a JSON body that the route reads itself."""
    return {"requestBody": {"content": {"application/json": {"schema": model.model_json_schema()}}}}
