"""`/v1/stats`, `/v1/capabilities`, `/v1/dead-letters`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from eunoe.v1 import admin_pb2
from eunoe_contracts.errors import DeadLetterNotFound
from fastapi import APIRouter, Depends, Query, Request

from eunoe_gateway.http import shapes
from eunoe_gateway.http.bodies import MAX_OFFSET, ReplayBody
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.request_body import known_parameters, read_json, schema_of, validated
from eunoe_gateway.protobuf import plain

router = APIRouter(tags=["admin"], dependencies=[Depends(known_parameters)])


@router.get("/v1/stats")
async def stats(door: DoorParam, who: Who) -> dict[str, Any]:
    """Counts."""
    return plain((await door.application.stats(who)).stats)


@router.get("/v1/capabilities")
async def capabilities(door: DoorParam, who: Who) -> dict[str, Any]:
    """Every format that can be read, and whether it is accepted now."""
    answer = await door.application.list_formats(who)
    return {"formats": [shapes.format_of(each) for each in answer.formats]}


@router.get("/v1/dead-letters")
async def dead_letters(
    door: DoorParam,
    who: Who,
    code: str = "",
    document_id: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    tenant: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
    *,
    include_replayed: bool = False,
) -> dict[str, Any]:
    """What was given up, and why."""
    request = admin_pb2.DeadLettersRequest(
        code=code, document_id=document_id, tenant=tenant, limit=limit, offset=offset, include_replayed=include_replayed
    )
    shapes.set_moment(request.since, since, "since")
    shapes.set_moment(request.until, until, "until")
    answer = await door.application.dead_letters(who, request)
    return {"dead_letters": [shapes.dead_letter(each) for each in answer.dead_letters], "total": answer.total}


@router.get("/v1/dead-letters/{letter_id}")
async def dead_letter(letter_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """Everything known about one dead letter, also when it was replayed."""
    answer = await door.application.dead_letters(who, admin_pb2.DeadLettersRequest(id=letter_id, include_replayed=True, limit=1))
    if not answer.dead_letters:
        raise DeadLetterNotFound
    return shapes.dead_letter(answer.dead_letters[0])


@router.post("/v1/dead-letters/replay", openapi_extra=schema_of(ReplayBody, required=False))
async def replay(request: Request, door: DoorParam, who: Who) -> dict[str, Any]:
    """Put dead letters back to work; twice is a no-op."""
    body = validated(ReplayBody, await read_json(request, optional=True))
    call = admin_pb2.ReplayRequest(
        ids=body.ids, code=body.code, document_id=body.document_id, tenant=body.tenant, dry_run=body.dry_run, limit=body.limit
    )
    shapes.set_moment(call.since, body.since, "since")
    shapes.set_moment(call.until, body.until, "until")
    answer = await door.application.replay(who, call)
    return {"matched": answer.matched, "replayed": answer.replayed, "ids": list(answer.ids), "dry_run": answer.dry_run}
