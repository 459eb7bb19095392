"""`POST /v1/documents/upload`: a multipart form, streamed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime
from http import HTTPStatus
from typing import Any

from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import InvalidField
from fastapi import APIRouter, Request

from eunoe_gateway.http import shapes
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.multipart import FieldPart, FileData, FileEnd, FileStart, Part, parts_of

router = APIRouter(tags=["documents"])
FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "container": {"type": "string"},
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
    """The fields of the form, gathered before and after the file part."""

    def __init__(self, request: Request) -> None:
        self._info = ingest_pb2.ContentInfo(idempotency_key=request.headers.get("idempotency-key", ""))
        self._parts = parts_of(request)
        self.warnings: list[str] = []

    async def open_file(self) -> None:
        """Read fields up to the file. Raises `InvalidField` when there is no file part."""
        async for part in self._parts:
            if isinstance(part, FileStart):
                if part.name != "file":
                    raise InvalidField(f"{part.name}: a file is expected in the part named 'file'")
                self._info.name = part.filename
                # Browsers and curl send this type when they do not know; it says nothing.
                if part.content_type and part.content_type != "application/octet-stream":
                    self._info.content_type = self._info.content_type or part.content_type
                return
            self._take(part)
        raise InvalidField("file: the form has no part named 'file'")

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes of the file, then the rest of the form."""
        in_file = True
        async for part in self._parts:
            if isinstance(part, FileData) and in_file:
                yield part.data
            elif isinstance(part, FileEnd):
                in_file = False
            elif isinstance(part, FileStart):
                raise InvalidField("file: send one file per request")
            else:
                self._take(part)

    def start(self) -> ingest_pb2.UploadStart:
        """What the form said; complete once `chunks` has ended."""
        return ingest_pb2.UploadStart(info=self._info)

    def _take(self, part: Part) -> None:
        if not isinstance(part, FieldPart):
            return
        match part.name:
            case "container" | "custom_id" | "content_type" | "name":
                setattr(self._info, part.name, part.value)
            case "tags" | "tags[]":
                self._info.tags.append(part.value)
            case "metadata":
                self._info.metadata.update(metadata_of(part.value))
            case "event_time":
                shapes.set_moment(self._info.event_time, time_of(part.value))
            case _:
                self.warnings.append(f"unknown field '{part.name}' was ignored")


def metadata_of(text: str) -> dict[str, Any]:
    """The metadata field; raises `InvalidField`."""
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
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
async def upload(request: Request, door: DoorParam, who: Who) -> dict[str, Any]:
    """Accept a file. Fields may stand before or after it."""
    form = UploadForm(request)
    await form.open_file()
    answer = await door.application.upload(who, form.start, form.chunks())
    return shapes.acceptance(answer.acceptance, form.warnings)
