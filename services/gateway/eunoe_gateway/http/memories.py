"""`/v1/memories`, `/v1/profile`, `/v1/containers`."""

from __future__ import annotations

from typing import Annotated, Any

from eunoe.v1 import container_pb2, memory_pb2
from fastapi import APIRouter, Depends, Query, Request

from eunoe_gateway.http import shapes
from eunoe_gateway.http.bodies import MAX_OFFSET, MemoryPatchBody
from eunoe_gateway.http.guard import DoorParam, Who
from eunoe_gateway.http.json_values import struct_of
from eunoe_gateway.http.request_body import known_parameters, read_json, schema_of, validated

router = APIRouter(tags=["memories"], dependencies=[Depends(known_parameters)])


@router.get("/v1/memories/{memory_id}")
async def read(memory_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """A passage, section, root or extracted memory."""
    return shapes.memory(await door.application.get_memory(who, memory_id))


@router.patch("/v1/memories/{memory_id}", openapi_extra=schema_of(MemoryPatchBody))
async def update(memory_id: str, request: Request, door: DoorParam, who: Who) -> dict[str, Any]:
    """Edit an extracted memory."""
    body = validated(MemoryPatchBody, await read_json(request))
    change = memory_pb2.UpdateMemoryRequest(
        id=memory_id, tags=body.tags or [], replace_tags=body.tags is not None, is_latest=body.is_latest, confidence=body.confidence
    )
    if body.metadata is not None:
        change.metadata.CopyFrom(struct_of("metadata", body.metadata))
    return shapes.memory(await door.application.update_memory(who, change))


@router.delete("/v1/memories/{memory_id}")
async def delete(memory_id: str, door: DoorParam, who: Who) -> dict[str, Any]:
    """Remove an extracted memory."""
    answer = await door.application.delete_memory(who, memory_id)
    return {"id": answer.id, "deleted": answer.deleted}


@router.get("/v1/memories/{memory_id}/related")
async def related(
    memory_id: str, door: DoorParam, who: Who, relationship_type: str = "", limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> dict[str, Any]:
    """Neighbours in the graph."""
    request = memory_pb2.RelatedRequest(id=memory_id, relationship_type=relationship_type, limit=limit)
    answer = await door.application.related(who, request)
    return {"memory_id": answer.memory_id, "related": [shapes.related(each) for each in answer.related]}


@router.get("/v1/profile/{container:path}")
async def profile(
    container: str,
    door: DoorParam,
    who: Who,
    fact_limit: Annotated[int, Query(ge=0, le=1000)] = 20,
    recent_limit: Annotated[int, Query(ge=0, le=1000)] = 10,
) -> dict[str, Any]:
    """Static facts and the last seven days of a container."""
    request = memory_pb2.ProfileRequest(container=container, fact_limit=fact_limit, recent_limit=recent_limit)
    answer = await door.application.profile(who, request)
    return {
        "container": answer.container,
        "static_facts": list(answer.static_facts),
        "recent_context": list(answer.recent_context),
        "relevant_memories": [],
    }


@router.get("/v1/containers")
async def containers(
    door: DoorParam,
    who: Who,
    prefix: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> dict[str, Any]:
    """Containers by name."""
    request = container_pb2.ContainerServiceListRequest(prefix=prefix, limit=limit, offset=offset)
    answer = await door.application.list_containers(who, request)
    rows = [
        {
            "name": each.name,
            "description": each.description or None,
            "parent": each.parent or None,
            "memory_count": each.memory_count,
            "document_count": each.document_count,
            "created_at": shapes.moment(each, "created_at"),
        }
        for each in answer.containers
    ]
    return {"containers": rows, "total": answer.total}


@router.delete("/v1/containers/{name:path}")
async def delete_container(name: str, door: DoorParam, who: Who, *, confirm: bool = False) -> dict[str, Any]:
    """Erase every document of a container; needs `confirm=true`."""
    request = container_pb2.ContainerServiceDeleteRequest(name=name, confirm=confirm)
    answer = await door.application.delete_container(who, request)
    return {"container": answer.container, "deleted_count": answer.deleted_count, "success": True}
