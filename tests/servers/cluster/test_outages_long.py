"""Kafka is away for long, or loses a topic: what was accepted ends all the same."""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import ExitStack
from uuid import uuid4

import httpx
import pytest
from driving import WORDS, Wave, ended, eventually, of, post
from eunoe_contracts import topics
from eunoe_stream.kafka import KafkaSettings
from eunoe_stream.kafka.testing import admin_of
from evidence import check_sinks, check_wave
from servers.cluster import Cluster
from servers.fixtures import Servers

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500), pytest.mark.usefixtures("everything")]
OUTAGE_S = float(os.environ.get("EUNOE_TEST_OUTAGE_S", "15"))
"""`make outage` takes 60."""
CALLERS = 4


def test_while_the_broker_is_away_documents_are_accepted_and_end_afterwards(
    http: httpx.Client, cluster: Cluster, servers: Servers, record_property: pytest.RecordProperty
) -> None:
    """Each call waits a second for the log, then the sweeper publishes. A call must never wait for the outage."""
    waves = [Wave(cluster.url, f"c{uuid4().hex}", pause_s=0.1) for _ in range(CALLERS)]
    with ExitStack() as stack:
        for each in waves:
            stack.enter_context(each.rolling())
        for each in waves:
            each.more(4)
        servers["kafka"].kill()
        away = time.monotonic()
        eventually(lambda: time.monotonic() > away + OUTAGE_S, OUTAGE_S + 5)
        back = time.monotonic()
        servers["kafka"].start()
        for each in waves:
            each.more(2)
    during = sorted(took for each in waves for began, took in each.accepted if away <= began < back)
    assert len(during) >= CALLERS, "next to nothing was accepted"
    usual = sorted(took for each in waves for began, took in each.accepted if began + took < away)
    p50, p99 = during[len(during) // 2], during[int(len(during) * 0.99)]
    began = time.monotonic()
    for each in waves:
        check_wave(http, cluster, servers, each)
    figures = f"{len(during)} accepted in {back - away:.0f} s without a broker, p50 {p50:.2f} s, p99 {p99:.2f} s, most {during[-1]:.2f} s"
    figures += f" (with one: p50 {usual[len(usual) // 2]:.2f} s)"
    print(f"{figures}; all ended and checked {time.monotonic() - began:.0f} s later")  # noqa: T201
    record_property("accepted", figures)
    assert not sum((each.refusals for each in waves), Counter())
    assert p99 < 5, figures


async def test_a_topic_deleted_under_its_readers_keeps_no_document_open(http: httpx.Client, cluster: Cluster, servers: Servers) -> None:
    """Records of documents that were queued are gone with the topic; it is made again; the sweeper brings all to their ends."""
    container = f"c{uuid4().hex}"
    cluster["embedder"].kill()

    def posted(first: int, count: int) -> list[str]:
        texts = [f"The {WORDS[n % len(WORDS)]} number{n} stands here." for n in range(first, first + count)]
        return [post(http, text, container, name=f"{n}.txt") for n, text in enumerate(texts, first)]

    ids = posted(0, 20)
    drawn = [*ids]

    def are_drawn() -> bool:
        drawn[:] = [each for each in drawn if of(http, each)["stages"].get("structure", {}).get("state") != "finished"]
        return not drawn

    eventually(are_drawn, 90, lambda: of(http, drawn[0]))
    prefix = cluster.settings["EUNOE_KAFKA__TOPIC_PREFIX"]
    settings = KafkaSettings(
        _env_file=None, bootstrap_servers=cluster.settings["EUNOE_KAFKA__BOOTSTRAP_SERVERS"], topic_prefix=prefix, replication=1
    )  # type: ignore[call-arg]
    async with admin_of(settings) as admin:
        await admin.delete_topics([prefix + topics.DOCUMENT_EXTRACTED], timeout_ms=30_000)
    late = posted(20, 5)
    cluster.provision()
    cluster["embedder"].start()
    ids += [*late, *posted(25, 5)]
    assert {each["status"] for each in ended(http, ids)} == {"done"}
    assert all(each.process is not None and each.process.poll() is None for each in cluster.processes.values())
    check_sinks(servers, container, ids)
