"""`eunoe import`: documents under the ids that they had, then what callers had changed of their memories.

Importing the same export again changes nothing: what is there is left alone, and so is what was erased or edited here since.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import grpc
from eunoe.v1 import ingest_pb2, types_pb2
from eunoe_contracts.errors import DocumentErased

from eunoe_standalone.cli.output import rpc_failure, stable_code
from eunoe_standalone.cli.upload import BUSY, CHUNK, ENDS, FIRST_DELAY_S, LONGEST_DELAY_S, UPLOAD_TIMEOUT_S, Item, follow
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection
from eunoe_standalone.moving.edits import Edits
from eunoe_standalone.moving.reader import Reader

UNCHANGED, ERASED, REPLACED, REFUSED = "unchanged", "erased here", "replaced here", "refused"
WITHDRAWN = frozenset({"failed", "cancelled"})


@dataclass(slots=True)
class Imported:
    """What became of each document, and of the edits."""

    items: list[Item] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    """Ids of all documents of the export."""
    edits: Edits = field(default_factory=Edits)
    whole: bool = False
    """The end of the export was seen, and its checksum was right."""


def import_(server: Connection, reader: Reader, done: Imported, *, accepted: Callable[[Item], None], ended: Callable[[Item], None]) -> None:
    """Take everything in; `done` tells what has been done, also when this raises `InvalidRequest` for a broken export."""
    are_settled = False
    for part in reader.parts():
        if part.kind == "document" and part.content is not None:
            item = _document(server, part.document, part.content)
            done.documents.add(part.document.id)
            done.items.append(item)
            accepted(item)
            are_settled = False
            continue
        if part.kind == "manifest":
            continue
        if not are_settled:  # edits are of memories, which are there once their documents are done
            done.items[:] = follow(server, done.items, ended)
            are_settled = True
        done.edits.apply(server, part, done.documents)
        done.whole = done.whole or part.kind == "end"


def _document(server: Connection, document: types_pb2.Document, content: IO[bytes]) -> Item:
    """Without an id in the answer it is not on the server."""
    label = f"{document.custom_id or document.name} ({document.id})"
    there = _there(server, document.id)
    if there is not None and (there.status != "failed" or document.status == "failed"):
        is_open = there.status not in ENDS  # of an import that was broken off: it is waited for
        return Item(label, document.id, there.status if is_open else UNCHANGED)
    if there is None and _has_newer_version(server, document):
        return Item(label, status=REPLACED)
    delay = FIRST_DELAY_S
    while True:
        content.seek(0)
        try:
            answer = server.ingest.Upload(_messages(document, content), timeout=UPLOAD_TIMEOUT_S, metadata=server.metadata)
        except grpc.RpcError as error:
            code = stable_code(error)
            if code in BUSY:
                delay = min(delay * 2, LONGEST_DELAY_S)
                threading.Event().wait(delay)
                continue
            if code == DocumentErased.code:
                return Item(label, status=ERASED)
            message, _ = rpc_failure(error)
            if error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED}:
                raise
            return Item(label, status=REFUSED, code=code, message=message)
        return Item(label, answer.acceptance.id, answer.acceptance.status, warnings=tuple(answer.acceptance.warnings))


def _messages(document: types_pb2.Document, content: IO[bytes]) -> Iterator[ingest_pb2.UploadRequest]:
    info = ingest_pb2.ContentInfo(
        container=document.container,
        content_type=document.content_type,
        name=document.name,
        metadata=document.metadata,
        tags=document.tags,
        custom_id=document.custom_id,
    )
    if document.HasField("event_time"):
        info.event_time.CopyFrom(document.event_time)
    start = ingest_pb2.UploadStart(info=info, declared_size=document.size_bytes, declared_sha256=document.sha256)
    start.restore.id = document.id
    start.restore.created_at.CopyFrom(document.created_at)
    yield ingest_pb2.UploadRequest(start=start)
    while chunk := content.read(CHUNK):
        yield ingest_pb2.UploadRequest(chunk=chunk)


def _there(server: Connection, identity: str) -> types_pb2.Document | None:
    try:
        request = ingest_pb2.GetDocumentRequest(id=identity)
        found: types_pb2.Document = server.ingest.GetDocument(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).document
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
        return None
    return found


def _has_newer_version(server: Connection, document: types_pb2.Document) -> bool:
    """Whether the server has a later version of the same file, which this one would replace."""
    if not document.custom_id:
        return False
    request = ingest_pb2.ListDocumentsRequest(container=document.container, custom_id=document.custom_id)
    versions: Sequence[types_pb2.Document] = server.ingest.ListDocuments(
        request, timeout=CALL_TIMEOUT_S, metadata=server.metadata
    ).documents
    standing = [each for each in versions if each.status not in WITHDRAWN]
    return any(each.created_at.ToNanoseconds() > document.created_at.ToNanoseconds() for each in standing)
