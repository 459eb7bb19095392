"""A document's life through six processes on the real servers, also while the processes are killed."""

from __future__ import annotations

import threading
import time
from uuid import uuid4

import httpx
import pytest
from driving import Wave, ended, eventually, hits, post, search
from evidence import check_wave
from servers.cluster import MODULES, Cluster, ServiceProcess
from servers.fixtures import Servers
from strictness import refusal

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500), pytest.mark.usefixtures("everything")]


def test_a_document_is_found_and_erased(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    text = "The kettle sings at noon. My favourite colour is green."
    identity = post(http, text, container, name="kettle.txt")
    assert ended(http, [identity])[0]["status"] == "done"
    assert identity in {each["document_id"] for each in hits(http, "when does the kettle sing", container)}
    assert post(http, text, container, name="kettle.txt") == identity
    assert http.delete(f"/v1/documents/{identity}").status_code in {200, 202}
    assert hits(http, "when does the kettle sing", container) == []
    assert http.get(f"/v1/documents/{identity}").status_code == 404


def test_every_part_is_ready(cluster: Cluster) -> None:
    for service in MODULES:
        assert cluster[service].get("/ready")[0] == 200, cluster[service].parts()


def test_of_two_statements_50_ms_apart_the_newer_can_take_the_place_of_the_older_at_once(http: httpx.Client) -> None:
    """Both are found by their vectors when they are done, and one that is superseded is gone from the next answer."""
    container = f"c{uuid4().hex}"
    older = post(http, "My favourite colour is green.", container, name="older.txt")
    threading.Event().wait(0.05)
    newer = post(http, "My favourite colour is red.", container, name="newer.txt")
    assert {each["status"] for each in ended(http, [older, newer])} == {"done"}

    def remembered(**filters: object) -> dict[str, str]:
        found = hits(http, "favourite colour", container, mode="vector", filters={"kinds": ["preference"], **filters})
        return {each["document_id"]: each["id"] for each in found}

    known = remembered()
    assert set(known) == {older, newer}
    changed = http.patch(f"/v1/memories/{known[older]}", json={"is_latest": False})
    assert changed.status_code == 200, changed.text
    assert set(remembered()) == {newer}
    assert list(remembered(latest_only=False)) == [newer, older]
    assert http.patch(f"/v1/memories/{known[older]}", json={"is_latest": True}).status_code == 200
    assert set(remembered()) == {newer, older}


def test_killed_services_lose_nothing(http: httpx.Client, cluster: Cluster, servers: Servers, strict: ServiceProcess) -> None:
    """kill -9 of each in turn in the middle of work: every acknowledged document ends once, poison in the dead letters."""
    container = f"c{uuid4().hex}"
    beacon = post(http, "The lighthouse stands on the cliff.", f"{container}.beacon", name="beacon.txt")
    assert ended(http, [beacon])[0]["status"] == "done"

    def while_away(service: str) -> None:
        if service == "embedder":
            answer = search(http, "lighthouse", f"{container}.beacon")
            assert "dense" in answer["degraded"]
            assert [each["document_id"] for each in answer["results"]] == [beacon]
            assert refusal(strict, "lighthouse", f"{container}.beacon") == "store_unavailable"
            eventually(lambda: not cluster["search"].parts()["embedder"]["ok"], 30, cluster["search"].parts)
        if service == "search":
            refused = http.post("/v1/search", json={"query": "lighthouse"})
            assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
            eventually(lambda: not http.get("/ready").json()["parts"]["search"]["ok"], 30)

    wave = Wave(cluster.url, container)
    began = time.monotonic()
    with wave.rolling():
        wave.more(8)
        for service in MODULES:
            cluster[service].kill()
            while_away(service)
            if service != "gateway":
                wave.more(3)
            cluster[service].start()
            wave.more(3)
    print(f"{wave.count} documents in {time.monotonic() - began:.0f} s, repeated calls: {dict(wave.refusals)}")  # noqa: T201
    assert wave.refusals, "the gateway was away and nobody noticed"
    check_wave(http, cluster, servers, wave)
