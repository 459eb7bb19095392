"""`/v1/documents`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Any

from eunoe.v1 import ingest_pb2, types_pb2
from eunoe_contracts.errors import InvalidField, NotFound
from fastapi import APIRouter, Header, Request
from fastapi.responses import PlainTextResponse, StreamingResponse

from eunoe_gateway.http import shapes
from eunoe_gateway.http.bodies import DocumentBody, DocumentListBody
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.request_body import read_json, schema_of, unknown_fields, validated

router = APIRouter(tags=["documents"])
RAW_CONTENT_LIMIT = 1024 * 1024
TEXTUAL = frozenset({"text", "markdown", "code", "html"})


@router.post("/v1/documents", status_code=HTTPStatus.ACCEPTED, openapi_extra=schema_of(DocumentBody))
async def create(request: Request, door: DoorParam, who: Who, idempotency_key: Annotated[str, Header()] = "") -> dict[str, Any]:
    """Accept a text. The answer comes when it is durably stored; follow it at `/v1/documents/{id}`."""
    body = validated(DocumentBody, await read_json(request, limit=door.max_json_bytes))
    info = ingest_pb2.ContentInfo(
        container=body.container,
        content_type=body.content_type,
        name=body.name,
        tags=body.tags,
        custom_id=body.custom_id,
        idempotency_key=idempotency_key,
    )
    info.metadata.update(body.metadata)
    shapes.set_moment(info.event_time, body.event_time)
    if body.content_type == "url":
        fetched = await door.application.ingest_url(who, ingest_pb2.IngestUrlRequest(info=info, url=body.content))
        return shapes.acceptance(fetched.acceptance, unknown_fields(body))
    answer = await door.application.ingest(who, ingest_pb2.IngestRequest(info=info, text=encodable(body.content)))
    return shapes.acceptance(answer.acceptance, unknown_fields(body))


def encodable(text: str) -> str:
    """The text itself; raises `InvalidField` for a lone surrogate, which JSON can carry and UTF-8 cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidField("content: has a lone surrogate, which is not a character") from error
    return text


@router.post("/v1/documents/list", openapi_extra=schema_of(DocumentListBody))
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


@router.get("/v1/documents/{document_id}")
async def read(document_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """A document and where it stands; readable right after the 202."""
    found = await door.application.get_document(who, document_id)
    return {**shapes.document(found), "raw_content": await raw_content(door, who, found)}


async def raw_content(door: DoorParam, who: Who, found: types_pb2.Document) -> str | None:
    """The text of a small textual document (MemoryDB's field), None for others and before extraction."""
    if found.content_type not in TEXTUAL or found.size_bytes > RAW_CONTENT_LIMIT:
        return None
    try:
        return await door.application.document_text(who, found.id) or None
    except NotFound:
        return None


@router.get("/v1/documents/{document_id}/text", response_class=PlainTextResponse)
async def text(document_id: str, door: DoorParam, who: Who) -> PlainTextResponse:
    """The extracted text as Markdown, in order."""
    return PlainTextResponse(await door.application.document_text(who, document_id), media_type="text/markdown")


@router.get("/v1/documents/{document_id}/events", response_class=StreamingResponse)
async def events(document_id: str, door: DoorParam, who: Who, last_event_id: Annotated[str, Header()] = "0") -> StreamingResponse:
    """Server-sent events: one `status` event at once and after each change, the last when the document has ended.

    The event id is the document's revision, so that a client that reconnects goes on where it was.
    """
    if not last_event_id.isdigit():
        raise InvalidField("Last-Event-ID: must be a revision number")
    states = door.application.watch_document(who, document_id, since=int(last_event_id))
    # The first state is read here, so that an unknown id is a 404 and not an empty stream.
    first = await anext(states, None)
    return StreamingResponse(event_stream(first, states), media_type="text/event-stream", headers={"cache-control": "no-store"})


async def event_stream(first: types_pb2.Document | None, states: AsyncIterator[types_pb2.Document]) -> AsyncIterator[str]:
    """States as server-sent events."""
    if first is None:
        return
    yield status_event(first)
    async for state in states:
        yield status_event(state)


def status_event(state: types_pb2.Document) -> str:
    """One event of the stream."""
    return f"id: {state.revision}\nevent: status\ndata: {json.dumps(shapes.document(state), ensure_ascii=False)}\n\n"


@router.post("/v1/documents/{document_id}/cancel")
async def cancel(document_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """End an open document."""
    return shapes.document(await door.application.cancel_document(who, document_id))


@router.delete("/v1/documents/{document_id}")
async def delete(document_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """Erase a document with everything made from it."""
    answer = await door.application.delete_document(who, document_id)
    return {"id": answer.id, "deleted": answer.deleted}
