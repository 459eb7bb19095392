"""What callers had changed or removed of the memories of an export, done again where it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import grpc
from eunoe.v1 import memory_pb2, types_pb2
from eunoe_contracts.errors import InvalidRequest
from eunoe_contracts.identity import normalised_statement
from google.protobuf import json_format

from eunoe_standalone.client import CALL_TIMEOUT_S, Connection
from eunoe_standalone.moving.reader import Part

PAGE = 1000


@dataclass(slots=True)
class Edits:
    """How many were done again, how many are as they were left here, and how many memories are not found in these documents."""

    applied: int = 0
    left: int = 0
    missing: int = 0

    def apply(self, server: Connection, part: Part, documents: AbstractSet[str]) -> None:
        """Those of one part of an export; `documents` are those that the export has. A memory that was edited here keeps that."""
        for record in part.records:
            if part.kind == "edited":
                self._change(server, _memory(record))
            else:
                self._remove(server, str(record.get("id", "")), documents)

    def _change(self, server: Connection, memory: types_pb2.Memory) -> None:
        there = _by_id(server, memory.id) or _by_text(server, memory)
        if there is None:
            self.missing += 1
        elif there.HasField("edited_at"):
            self.left += 1
        else:
            change = memory_pb2.UpdateMemoryRequest(
                id=there.id,
                metadata=memory.metadata,
                tags=memory.tags,
                replace_tags=True,
                is_latest=memory.is_latest,
                confidence=memory.confidence,
            )
            server.memories.UpdateMemory(change, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
            self.applied += 1

    def _remove(self, server: Connection, identity: str, documents: AbstractSet[str]) -> None:
        there = _by_id(server, identity)
        if there is None:
            return  # gone already; in another tenant it stands again under another id, which nothing here tells
        if there.HasField("edited_at") or there.document_id not in documents:
            self.left += 1  # somebody cares for it here, or it comes from somewhere else
            return
        server.memories.DeleteMemory(memory_pb2.DeleteMemoryRequest(id=identity), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
        self.applied += 1


def _memory(record: Mapping[str, Any]) -> types_pb2.Memory:
    try:
        return json_format.ParseDict(dict(record), types_pb2.Memory(), ignore_unknown_fields=True)
    except (json_format.ParseError, RecursionError) as error:
        raise InvalidRequest("the export is damaged: a memory is not what it was written as") from error


def _by_id(server: Connection, identity: str) -> types_pb2.Memory | None:
    try:
        request = memory_pb2.GetMemoryRequest(id=identity)
        found: types_pb2.Memory = server.memories.GetMemory(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).memory
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        return None
    return found


def _by_text(server: Connection, memory: types_pb2.Memory) -> types_pb2.Memory | None:
    """The same statement of the same document: in another tenant memories have other ids."""
    wanted, offset = normalised_statement(memory.content), 0
    while True:
        request = memory_pb2.ListMemoriesRequest(document_id=memory.document_id, kinds=[memory.kind], limit=PAGE, offset=offset)
        found = server.memories.ListMemories(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).memories
        for each in found:
            if normalised_statement(each.content) == wanted:
                return each
        if len(found) < PAGE:
            return None
        offset += PAGE
