from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest
from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.events import Record, document_event
from eunoe_gateway.keyed_locks import KeyedLocks
from eunoe_gateway.publishing import Publisher
from eunoe_gateway.readiness import Readiness

EVENT = document_event(topics.DOCUMENT_ACCEPTED, events_pb2.DocumentAccepted(tenant="t", document_id=str(UUID(int=1)), generation=1))


class SlowLog:
    def __init__(self, error: Exception | None = None) -> None:
        self.open = asyncio.Event()
        self.published: list[Record] = []
        self.error = error

    async def publish(self, records: Sequence[Record]) -> None:
        await self.open.wait()
        if self.error:
            raise self.error
        self.published.extend(records)


async def test_a_slow_log_does_not_hold_the_caller_and_loses_nothing() -> None:
    log, done = SlowLog(), []
    publisher = Publisher(log, wait_s=0.01)  # type: ignore[arg-type]  # only `publish` is used

    async def then() -> None:
        done.append(True)

    await publisher.publish([EVENT], then=then)
    assert (log.published, done) == ([], [])
    log.open.set()
    await publisher.drain()
    assert (len(log.published), done) == (1, [True])
    await publisher.drain()


async def test_a_cancelled_caller_does_not_stop_the_publication() -> None:
    log = SlowLog()
    publisher = Publisher(log, wait_s=10)  # type: ignore[arg-type]  # only `publish` is used
    call = asyncio.create_task(publisher.publish([EVENT]))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    log.open.set()
    await publisher.drain()
    assert len(log.published) == 1


async def test_a_failed_publication_is_left_to_the_sweeper() -> None:
    log, done = SlowLog(StoreUnavailable()), []
    log.open.set()

    async def then() -> None:
        done.append(True)

    await Publisher(log, wait_s=1).publish([EVENT], then=then)  # type: ignore[arg-type]  # only `publish` is used
    assert done == []


async def test_locks_let_one_in_per_key_and_forget_keys() -> None:
    locks: KeyedLocks[str] = KeyedLocks()
    inside: list[str] = []
    most = 0

    async def work(key: str) -> None:
        nonlocal most
        async with locks.hold(key):
            inside.append(key)
            most = max(most, inside.count("a"))
            await asyncio.sleep(0)
            inside.remove(key)

    await asyncio.gather(*(work("a") for _ in range(5)), work("b"))
    assert most == 1
    assert locks._held == {}


async def test_readiness_names_what_is_missing() -> None:
    async def fine() -> tuple[bool, str]:
        return True, "BM25 only: no embedder is configured"

    async def down() -> tuple[bool, str]:
        return False, "no parser process"

    async def broken() -> tuple[bool, str]:
        raise RuntimeError("secret detail")

    async def hanging() -> tuple[bool, str]:
        await asyncio.Event().wait()
        return True, ""

    ready = await Readiness({"model": fine}, timeout_s=1).check()
    assert ready.ready
    assert ready.parts["model"]["reason"].startswith("BM25")
    answer = await Readiness({"model": fine, "parsers": down, "log": broken, "graph": hanging}, timeout_s=0.02).check()
    assert not answer.ready
    assert answer.parts["parsers"]["reason"] == "no parser process"
    assert "secret" not in answer.parts["log"]["reason"]
    assert "no answer" in answer.parts["graph"]["reason"]
