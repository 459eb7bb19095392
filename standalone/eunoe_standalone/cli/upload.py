"""Send files to the server and follow them to their end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import grpc
from eunoe.v1 import ingest_pb2, types_pb2
from eunoe_contracts.errors import QueueFull, ResourceExhausted

from eunoe_standalone.cli.output import rpc_failure, stable_code
from eunoe_standalone.cli.sources import SourceFile
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection

CHUNK = 256 * 1024
PARALLEL = 4
UPLOAD_TIMEOUT_S = 3600.0
FIRST_DELAY_S, LONGEST_DELAY_S = 0.05, 1.0
WATCHED_AT_ONCE = 32
BUSY = frozenset({QueueFull.code, ResourceExhausted.code})
ENDS = frozenset({"done", "failed", "erased", "cancelled"})


@dataclass(frozen=True, slots=True)
class Item:
    """What became of one file. `status` is the document's, or `unchanged`, `refused`."""

    path: str
    id: str = ""
    status: str = ""
    code: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """True when the file is not searchable afterwards."""
        return self.status in {"failed", "refused", "erased", "cancelled"}


def requests(source: SourceFile, container: str, tags: Sequence[str], unreadable: list[OSError]) -> Iterator[ingest_pb2.UploadRequest]:
    """The messages of one upload: metadata, then chunks. gRPC hides what an iterator raises, so it is put into `unreadable` too."""
    info = ingest_pb2.ContentInfo(container=container, name=source.name, custom_id=source.custom_id, tags=tags)
    try:
        with source.path.open("rb") as file:
            size = source.path.stat().st_size
            yield ingest_pb2.UploadRequest(start=ingest_pb2.UploadStart(info=info, declared_size=size))
            while chunk := file.read(CHUNK):
                yield ingest_pb2.UploadRequest(chunk=chunk)
    except OSError as error:
        unreadable.append(error)
        raise


def upload(server: Connection, source: SourceFile, container: str, tags: Sequence[str]) -> Item:
    """Upload one file; waits and repeats while the server says that its queue is full."""
    path, delay = source.label, FIRST_DELAY_S
    while True:
        unreadable: list[OSError] = []
        try:
            messages = requests(source, container, tags, unreadable)
            answer = server.ingest.Upload(messages, timeout=UPLOAD_TIMEOUT_S, metadata=server.metadata)
        except grpc.RpcError as error:
            if unreadable:
                reason = f"cannot read the file: {unreadable[0].strerror}"
                return Item(path, status="refused", code="unreadable", message=reason)
            code = stable_code(error)
            if code in BUSY:
                delay = min(delay * 2, LONGEST_DELAY_S)
                threading.Event().wait(delay)
                continue
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                raise
            message, _ = rpc_failure(error)
            return Item(path, status="refused", code=code, message=message)
        accepted = answer.acceptance
        unchanged = accepted.deduplicated and accepted.status == "done"
        return Item(path, accepted.id, "unchanged" if unchanged else accepted.status, warnings=tuple(accepted.warnings))


def upload_all(
    server: Connection, sources: Sequence[SourceFile], container: str, tags: Sequence[str], tell: Callable[[Item], None]
) -> list[Item]:
    """Upload with a few at a time; `tell` is called for each accepted or refused file. The order of `sources` is kept."""

    def one(source: SourceFile) -> Item:
        item = upload(server, source, container, tags)
        tell(item)
        return item

    with ThreadPoolExecutor(PARALLEL) as pool:
        return list(pool.map(one, sources))


def ended(item: Item, document: types_pb2.Document) -> Item:
    """The item with the document's state."""
    return replace(
        item,
        status=document.status,
        code=document.error_code,
        message=document.error_message,
        warnings=tuple(document.warnings),
        degraded=tuple(document.degraded),
    )


def follow(server: Connection, items: Sequence[Item], tell: Callable[[Item], None]) -> list[Item]:
    """Wait until every accepted document has ended; `tell` is called when one has."""
    result = list(items)
    waiting = [index for index, item in enumerate(items) if item.id and item.status not in ENDS and item.status != "unchanged"]
    delay = FIRST_DELAY_S
    while waiting:
        before = len(waiting)
        for index in waiting[:WATCHED_AT_ONCE]:
            request = ingest_pb2.GetDocumentRequest(id=result[index].id)
            try:
                document = server.ingest.GetDocument(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).document
            except grpc.RpcError as error:
                if error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise
                document = types_pb2.Document(status="erased")  # by somebody else, or replaced by a newer version
            if document.status in ENDS:
                result[index] = ended(result[index], document)
                tell(result[index])
                waiting.remove(index)
        delay = FIRST_DELAY_S if len(waiting) < before else min(delay * 1.5, LONGEST_DELAY_S)
        if waiting:
            time.sleep(delay)
    return result
