"""`/v1/uploads`: large files that go to the blob store itself and are then committed."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from eunoe.v1 import ingest_pb2
from fastapi import APIRouter, Depends, Header, Request

from eunoe_gateway.http import shapes
from eunoe_gateway.http.bodies import UploadBeginBody, UploadCommitBody
from eunoe_gateway.http.documents import named_container
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.json_values import struct_of
from eunoe_gateway.http.request_body import ignored, known_parameters, read_json, schema_of, validated

router = APIRouter(tags=["documents"])


@router.post(
    "/v1/uploads", status_code=HTTPStatus.CREATED, openapi_extra=schema_of(UploadBeginBody), dependencies=[Depends(known_parameters)]
)
async def begin(request: Request, door: DoorParam, who: Who) -> dict[str, Any]:
    """Begin. POST a multipart form to `url`: the `fields` first, then the bytes as `file`; then commit. Only where the store is S3."""
    body = validated(UploadBeginBody, await read_json(request))
    answer = await door.application.begin_upload(who, ingest_pb2.BeginUploadRequest(declared_size=body.size))
    return {
        "upload_id": answer.upload_id,
        "url": answer.url,
        "fields": dict(answer.fields),
        "expires_at": shapes.moment(answer, "expires_at"),
    }


@router.post("/v1/uploads/{upload_id}/commit", status_code=HTTPStatus.ACCEPTED, openapi_extra=schema_of(UploadCommitBody))
async def commit(
    upload_id: str, request: Request, door: DoorParam, who: Who, idempotency_key: Annotated[str, Header()] = ""
) -> dict[str, Any]:
    """Accept what was sent there, once its size and checksum were seen to be those given. May be repeated, with the same answer."""
    body = validated(UploadCommitBody, await read_json(request))
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
    answer = await door.application.commit_upload(
        who, ingest_pb2.CommitUploadRequest(upload_id=upload_id, info=info, declared_size=body.size, declared_sha256=body.sha256)
    )
    return shapes.acceptance(answer.acceptance, ignored([*(body.model_extra or {}), *request.query_params]))
