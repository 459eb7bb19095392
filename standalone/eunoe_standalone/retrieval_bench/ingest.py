"""Ingest a dataset through the API, as a caller would, and wait until every document has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
from eunoe.v1 import ingest_pb2

from eunoe_standalone.cli.output import rpc_failure, stable_code
from eunoe_standalone.cli.upload import BUSY, FIRST_DELAY_S, LONGEST_DELAY_S, Item, follow
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection
from eunoe_standalone.retrieval_bench.dataset import Text

PARALLEL = 8


@dataclass(frozen=True, slots=True)
class Ingested:
    """Names by document id, what did not become searchable, how many were not there before, and the seconds from the first call
    to the last end.
    """

    names: Mapping[str, str]
    failed: Sequence[Item]
    new: int
    seconds: float


def ingest_texts(server: Connection, texts: Sequence[Text], *, accepted: Callable[[Item], None], ended: Callable[[Item], None]) -> Ingested:
    """Send all texts, eight calls at a time, the turns of a session one after the other, and follow them. Texts that are there
    already are not ingested again.
    """
    started = time.monotonic()

    def one(text: Text) -> Item:
        item = send(server, text)
        accepted(item)
        return item

    with ThreadPoolExecutor(PARALLEL) as pool:
        items = [item for sent in pool.map(lambda turns: [one(each) for each in turns], in_sessions(texts)) for item in sent]
    items = follow(server, items, ended)
    seconds = time.monotonic() - started
    failed = [item for item in items if item.failed]
    new = sum(1 for item in items if not item.failed and item.status != "unchanged")
    return Ingested({item.id: item.path for item in items if item.id}, failed, new, seconds)


def in_sessions(texts: Sequence[Text]) -> list[list[Text]]:
    """The texts in their order, the turns of a session together; every other text alone."""
    found: dict[tuple[str, str], list[Text]] = {}
    for text in texts:
        session = text.metadata.get("session")
        found.setdefault((text.container, f"session {session}" if session else f"text {text.name}"), []).append(text)
    return list(found.values())


def send(server: Connection, text: Text) -> Item:
    """One `Ingest` call; waits and repeats while the server says that its queue is full."""
    # Name and custom id keep two texts of the same words apart.
    info = ingest_pb2.ContentInfo(container=text.container, content_type="text", name=text.name, custom_id=text.name)
    info.metadata.update(dict(text.metadata))
    request = ingest_pb2.IngestRequest(info=info, text=text.text)
    delay = FIRST_DELAY_S
    while True:
        try:
            accepted = server.ingest.Ingest(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).acceptance
        except grpc.RpcError as error:
            code = stable_code(error)
            if code in BUSY:
                delay = min(delay * 2, LONGEST_DELAY_S)
                threading.Event().wait(delay)
                continue
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                raise
            return Item(text.name, status="refused", code=code, message=rpc_failure(error)[0])
        unchanged = accepted.deduplicated and accepted.status == "done"
        return Item(text.name, accepted.id, "unchanged" if unchanged else accepted.status)
