"""`/v1/documents`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from eunoe.v1 import ingest_pb2, types_pb2
from eunoe_contracts.errors import Conflict, InvalidRequest, NotFound
from eunoe_contracts.stages import DocumentStatus
from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from eunoe_gateway.http import failures, shapes
from eunoe_gateway.http.bodies import DocumentBody, DocumentListBody
from eunoe_gateway.http.event_stream import HEADERS, event_stream, revision_of
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.json_values import struct_of
from eunoe_gateway.http.request_body import ignored, known_parameters, read_json, refuse_forms, schema_of, validated

router = APIRouter(tags=["documents"])
RAW_CONTENT_LIMIT = 1024 * 1024
TEXTUAL = frozenset({"text", "markdown", "code", "html"})
STRICT = (Depends(known_parameters),)


@router.post("/v1/documents", status_code=HTTPStatus.ACCEPTED, openapi_extra=schema_of(DocumentBody))
async def create(request: Request, door: DoorParam, who: Who, idempotency_key: Annotated[str, Header()] = "") -> dict[str, Any]:
    """Accept a text. The answer comes when it is durably stored; follow it at `/v1/documents/{id}`."""
    body = validated(DocumentBody, await read_json(request, limit=door.max_json_bytes))
    info = ingest_pb2.ContentInfo(
        container=named_container(body.container),
        content_type=body.content_type,
        name=body.name,
        metadata=struct_of("metadata", body.metadata),
        tags=body.tags,
        custom_id=body.custom_id,
        idempotency_key=idempotency_key,
    )
    shapes.set_moment(info.event_time, body.event_time, "event_time")
    warnings = ignored([*(body.model_extra or {}), *request.query_params])
    if body.content_type == "url":
        fetched = await door.application.ingest_url(who, ingest_pb2.IngestUrlRequest(info=info, url=body.content))
        return shapes.acceptance(fetched.acceptance, warnings)
    answer = await door.application.ingest(who, ingest_pb2.IngestRequest(info=info, text=body.content))
    return shapes.acceptance(answer.acceptance, warnings)


@router.post("/v1/documents/list", openapi_extra=schema_of(DocumentListBody, required=False))
async def list_documents(request: Request, door: DoorParam, who: Who) -> dict[str, Any]:
    """Documents, newest first. The same names work in the query (MemoryDB) and in the body; the body wins."""
    given = {**dict(request.query_params), **await read_json(request, optional=True)}
    body = validated(DocumentListBody, given)
    answer = await door.application.list_documents(
        who,
        ingest_pb2.ListDocumentsRequest(
            container=body.container, status=body.status, custom_id=body.custom_id, limit=body.limit, offset=body.offset
        ),
    )
    return {"documents": [shapes.document_line(each) for each in answer.documents], "total": answer.total}


@router.get("/v1/documents/{document_id}", dependencies=STRICT)
async def read(document_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """A document and where it stands; readable right after the 202."""
    found = await door.application.get_document(who, document_id)
    return {**shapes.document(found), "raw_content": await raw_content(door, who, found)}


async def raw_content(door: DoorParam, who: Who, found: types_pb2.Document) -> str | None:
    """The text of a small textual document (MemoryDB's field), None for others and while there is no text yet."""
    if found.content_type not in TEXTUAL or found.size_bytes > RAW_CONTENT_LIMIT:
        return None
    try:
        return await door.application.document_text(who, found.id) or None
    except (Conflict, NotFound):
        return None


@router.get("/v1/documents/{document_id}/text", response_class=PlainTextResponse, dependencies=STRICT)
async def text(document_id: str, door: DoorParam, who: Who) -> PlainTextResponse:
    """The extracted text as Markdown, in order."""
    return PlainTextResponse(await door.application.document_text(who, document_id), media_type="text/markdown")


@router.get("/v1/documents/{document_id}/content", response_class=StreamingResponse, dependencies=STRICT)
async def content(document_id: str, door: DoorParam, who: Who) -> StreamingResponse:
    """The bytes as they were accepted. Always to be saved, never shown: they are somebody's."""
    parts = door.application.document_content(who, document_id)
    found = (await anext(parts)).document

    async def chunks() -> AsyncIterator[bytes]:
        async for part in parts:
            yield part.chunk

    headers = {
        "content-length": str(found.size_bytes),
        "content-disposition": f"attachment; filename*=UTF-8''{quote(found.name or found.id, safe='')}",
        "etag": f'"{found.sha256}"',
    }
    return StreamingResponse(chunks(), media_type="application/octet-stream", headers=headers)


@router.get("/v1/documents/{document_id}/events", response_class=StreamingResponse, dependencies=STRICT)
async def events(document_id: str, request: Request, door: DoorParam, who: Who, last_event_id: Annotated[str, Header()] = "") -> Response:
    """Server-sent events: one `status` event at once and after each change, the last when the document has ended.

    A client that comes back with `Last-Event-ID` goes on where it was; when there is nothing more to tell it gets 204, which
    ends an `EventSource`.
    """
    since = revision_of(last_event_id)
    # Read here, so that an unknown id is a 404 and not a broken stream, and an open document answers its headers at once.
    found = await door.application.get_document(who, document_id)
    if found.revision <= since and DocumentStatus(found.status).is_end:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    states = door.application.watch_document(who, document_id, since=since)
    failed = partial(failures.known, identity=failures.request_id(request), path=request.url.path)
    return StreamingResponse(
        event_stream(states, failed=failed, keep_alive_s=door.keep_alive_s), media_type="text/event-stream", headers=HEADERS
    )


@router.post("/v1/documents/{document_id}/cancel", dependencies=(*STRICT, Depends(refuse_forms)))
async def cancel(document_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """End an open document."""
    return shapes.document(await door.application.cancel_document(who, document_id))


@router.delete("/v1/documents/{document_id}", dependencies=STRICT)
async def delete(document_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """Erase a document with everything made from it."""
    answer = await door.application.delete_document(who, document_id)
    return {"id": answer.id, "deleted": answer.deleted}


def named_container(name: str) -> str:
    """The name itself; an empty one is refused here, because MemoryDB answers 400 and the default is for calls that name none."""
    if not name:
        raise InvalidRequest("container: must not be empty")
    return name
