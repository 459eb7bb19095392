"""`eunoe export`: everything of a tenant that cannot be computed again."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any

import grpc
from eunoe.v1 import ingest_pb2, memory_pb2, types_pb2
from google.protobuf import json_format
from google.protobuf.message import Message

from eunoe_standalone.client import CALL_TIMEOUT_S, Connection
from eunoe_standalone.moving.format import FORMAT, IN_MEMORY, MEMORIES_PER_MEMBER, VERSION
from eunoe_standalone.moving.writer import Writer
from eunoe_standalone.version import VERSION as PROGRAM

PAGE = 500
CONTENT_TIMEOUT_S = 3600.0
COMPUTED = ("stages", "counts", "warnings", "degraded", "searchable", "revision", "generation", "children")
"""Fields of a document that its next server finds out for itself."""


@dataclass(slots=True)
class Exported:
    """What was written, and what was not."""

    documents: int = 0
    bytes: int = 0
    edited: int = 0
    removed: int = 0
    cancelled: int = 0
    unreadable: list[str] = field(default_factory=list)
    """Ids of documents whose bytes could not be read, or are not those that were accepted."""


def export(server: Connection, writer: Writer, tell: Callable[[int, int], None], *, container: str = "") -> Exported:
    """Write everything, or all of one container; `tell` hears how many documents of how many were written. Erased and cancelled ones
    are not.
    """
    done = Exported()
    total = 0
    seen: set[str] = set()
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as kept:
        for document, expected in _documents(server, container):
            if not total:
                total = expected
                writer.begin(_manifest(total))
            if document.id in seen:  # accepted again meanwhile
                continue
            seen.add(document.id)
            if document.status == "cancelled":
                done.cancelled += 1
            elif (whole := _fetched(server, document, kept, done)) is not None:
                done.documents += 1
                done.bytes += whole.size_bytes
                for name in COMPUTED:
                    whole.ClearField(name)  # type: ignore[arg-type]  # names of fields, every one
                writer.add_record(f"documents/{done.documents:07}.json", _json(whole))
                writer.add(f"documents/{done.documents:07}.bin", kept, whole.size_bytes)
            tell(len(seen), total)
    if not total:
        writer.begin(_manifest(0))
    _memories(server, writer, done, container)
    counts = {"documents": done.documents, "bytes": done.bytes, "edited": done.edited, "removed": done.removed}
    writer.finish({**counts, "unreadable": done.unreadable})
    return done


def _manifest(total: int) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "program": PROGRAM, "created_at": datetime.now(UTC).isoformat(), "documents": total}


def _json(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return found


def _documents(server: Connection, container: str) -> Iterator[tuple[types_pb2.Document, int]]:
    """In order of acceptance, with the number of those that were there at first."""
    after, total = 0, 0
    while True:
        request = ingest_pb2.ListDocumentsRequest(container=container, after_sequence=after, limit=PAGE)
        answer = server.ingest.ListDocuments(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
        total = total or answer.total
        for each in answer.documents:
            yield each, total
        if len(answer.documents) < PAGE:
            return
        after = answer.documents[-1].sequence


def _fetched(server: Connection, listed: types_pb2.Document, target: IO[bytes], done: Exported) -> types_pb2.Document | None:
    """The document, with its bytes in `target`; None when it was erased meanwhile, or its bytes are not what they should be."""
    target.seek(0)
    target.truncate()
    digest, document = hashlib.sha256(), types_pb2.Document()
    try:
        request = ingest_pb2.GetDocumentContentRequest(id=listed.id)
        for part in server.ingest.GetDocumentContent(request, timeout=CONTENT_TIMEOUT_S, metadata=server.metadata):
            if part.HasField("document"):
                document = part.document
            digest.update(part.chunk)
            target.write(part.chunk)
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        if document.id:  # it is there, and its bytes are not
            done.unreadable.append(listed.id)
        return None
    if digest.hexdigest() != document.sha256:
        done.unreadable.append(listed.id)
        return None
    target.seek(0)
    return document


def _memories(server: Connection, writer: Writer, done: Exported, container: str) -> None:
    number = 0
    while True:
        request = memory_pb2.ListMemoriesRequest(container=container, edited=True, limit=MEMORIES_PER_MEMBER, offset=done.edited)
        edited = server.memories.ListMemories(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).memories
        if not edited:
            break
        number += 1
        writer.add_lines(f"memories/edited-{number:04}.jsonl", [_json(each) for each in edited])
        done.edited += len(edited)
    number = 0
    while True:
        window = memory_pb2.ListRemovedMemoriesRequest(limit=MEMORIES_PER_MEMBER, offset=number * MEMORIES_PER_MEMBER)
        removed = server.memories.ListRemovedMemories(window, timeout=CALL_TIMEOUT_S, metadata=server.metadata).memories
        if not removed:
            return
        number += 1
        chosen = [each for each in removed if container in {"", each.container}]
        writer.add_lines(f"memories/removed-{number:04}.jsonl", [_json(each) for each in chosen])
        done.removed += len(chosen)
