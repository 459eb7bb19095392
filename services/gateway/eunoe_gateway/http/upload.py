"""`POST /v1/documents/upload`: a multipart form, streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import InvalidField, InvalidRequest
from fastapi import APIRouter, Header, Request

from eunoe_gateway.http import shapes
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.json_values import parse_json, struct_of
from eunoe_gateway.http.multipart import FieldPart, FileData, FileStart, Part, parts_of
from eunoe_gateway.http.request_body import ignored

router = APIRouter(tags=["documents"])
FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "container"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "container": {"type": "string", "description": "Dot path such as team.project."},
                        "name": {"type": "string", "description": "Instead of the file's own name."},
                        "metadata": {"type": "string", "description": "A JSON object."},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "custom_id": {"type": "string"},
                        "event_time": {"type": "string", "format": "date-time"},
                        "content_type": {"type": "string"},
                    },
                }
            }
        },
    }
}


class UploadForm:
    """The fields of the form, gathered before and after the file part. A field wins over what the file part says of itself."""

    def __init__(self, request: Request, idempotency_key: str) -> None:
        self._info = ingest_pb2.ContentInfo(idempotency_key=idempotency_key)
        self._parts = parts_of(request)
        self._unknown: list[str] = list(request.query_params)
        self._once: set[str] = set()

    async def open_file(self) -> None:
        """Read fields up to the file. Raises `InvalidField` when there is no file part."""
        async for part in self._parts:
            if isinstance(part, FileStart):
                if part.name != "file":
                    raise InvalidField(f"{part.name[:100]}: a file is expected in the part named 'file'")
                self._info.name = self._info.name or part.filename
                # Browsers and curl send this type when they do not know; it says nothing.
                if part.content_type and part.content_type != "application/octet-stream":
                    self._info.content_type = self._info.content_type or part.content_type
                return
            self._take(part)
        raise InvalidField("file: the form has no part named 'file'")

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes of the file, then the rest of the form."""
        async for part in self._parts:
            if isinstance(part, FileData):
                yield part.data
            elif isinstance(part, FileStart):
                raise InvalidField("file: send one file per request")
            else:
                self._take(part)

    def start(self) -> ingest_pb2.UploadStart:
        """What the form said; complete once `chunks` has ended. Raises `InvalidField` without a container."""
        if not self._info.container:
            raise InvalidField("container: Field required")
        return ingest_pb2.UploadStart(info=self._info)

    def warnings(self) -> list[str]:
        """Names of fields that nobody knows."""
        return ignored(self._unknown)

    async def aclose(self) -> None:
        """Let go of the body; what was not read of it is not read any more. May be called twice."""
        await self._parts.aclose()

    def _take(self, part: Part) -> None:
        if not isinstance(part, FieldPart):
            return
        name, value = part.name, part.value
        if name in {"tags", "tags[]"}:
            self._info.tags.append(value)
            return
        if name in self._once:
            raise InvalidField(f"{name[:100]}: given twice")
        self._once.add(name)
        match name:
            case "container" | "custom_id" | "content_type" | "name":
                setattr(self._info, name, value)
            case "metadata":
                self._info.metadata.CopyFrom(struct_of("metadata", metadata_of(value)))
            case "event_time":
                shapes.set_moment(self._info.event_time, time_of(value), "event_time")
            case _:
                self._unknown.append(name)


def metadata_of(text: str) -> dict[str, Any]:
    """The metadata field; raises `InvalidField`."""
    try:
        value = parse_json(text) if text.strip() else {}
    except InvalidRequest as error:
        raise InvalidField("metadata: not valid JSON") from error
    if not isinstance(value, dict):
        raise InvalidField("metadata: must be a JSON object")
    return value


def time_of(text: str) -> datetime | None:
    """The event_time field; raises `InvalidField`."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidField("event_time: not an ISO 8601 time") from error


@router.post("/v1/documents/upload", status_code=HTTPStatus.ACCEPTED, openapi_extra=FORM)
async def upload(request: Request, door: DoorParam, who: Who, idempotency_key: Annotated[str, Header()] = "") -> dict[str, Any]:
    """Accept a file. Fields may stand before or after it."""
    async with aclosing(UploadForm(request, idempotency_key)) as form:
        await form.open_file()
        answer = await door.application.upload(who, form.start, form.chunks())
        return shapes.acceptance(answer.acceptance, form.warnings())
