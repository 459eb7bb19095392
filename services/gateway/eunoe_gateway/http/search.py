"""`POST /v1/search`."""

from __future__ import annotations

from typing import Any

from eunoe.v1 import search_pb2
from fastapi import APIRouter, Depends, Request

from eunoe_gateway.http import shapes
from eunoe_gateway.http.bodies import SearchBody
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.json_values import struct_of
from eunoe_gateway.http.request_body import known_parameters, read_json, schema_of, validated

router = APIRouter(tags=["search"], dependencies=[Depends(known_parameters)])


@router.post("/v1/search", openapi_extra=schema_of(SearchBody))
async def search(request: Request, door: DoorParam, who: Who) -> dict[str, Any]:
    """Ranked, cited hits. `containers` overrides `container`; none searches all."""
    body = validated(SearchBody, await read_json(request))
    containers = body.containers if body.containers is not None else [body.container] if body.container else []
    question = search_pb2.SearchRequest(
        query=body.query,
        containers=containers,
        inherit=body.inherit,
        limit=body.limit,
        offset=body.offset,
        mode=body.mode,
        fusion=body.fusion,
        include_related=body.include_related,
        explain=body.explain,
    )
    question.filters.CopyFrom(struct_of("filters", body.filters))
    shapes.set_moment(question.as_of, body.as_of, "as_of")
    answer = await door.application.search(who, question)
    return {
        "query": answer.query,
        "results": [shapes.hit(each) for each in answer.results],
        "total": answer.total,
        "limit": answer.limit,
        "offset": answer.offset,
        "degraded": list(answer.degraded),
        "took_ms": answer.took_ms,
    }
