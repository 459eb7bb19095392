"""Life of a document through the HTTP door of a real server: once, again, erased, beside its equals."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

ENDS = {"done", "failed", "cancelled"}


def post(http: httpx.Client, content: str, **fields: Any) -> dict[str, Any]:
    answer = http.post("/v1/documents", json={"content": content, "container": f"c{uuid4().hex}", **fields})
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


def eventually(condition: Callable[[], bool], limit_s: float = 60) -> None:
    deadline, tick = time.monotonic() + limit_s, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        tick.wait(0.02)


def ended(http: httpx.Client, identity: str) -> dict[str, Any]:
    eventually(lambda: http.get(f"/v1/documents/{identity}").json()["status"] in ENDS)
    found: dict[str, Any] = http.get(f"/v1/documents/{identity}").json()
    return found


def hits(http: httpx.Client, query: str, container: str) -> list[dict[str, Any]]:
    answer = http.post("/v1/search", json={"query": query, "container": container})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_three_equal_posts_are_one_document(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    answers = [post(http, "The kettle sings at noon.", container=container) for _ in range(3)]
    assert len({each["id"] for each in answers}) == 1
    assert [each["deduplicated"] for each in answers] == [False, True, True]
    ended(http, answers[0]["id"])
    again = post(http, "The kettle sings at noon.", container=container, tags=["new"])
    assert again["deduplicated"]
    assert again["updated"] == ["tags"]
    assert http.post("/v1/documents/list", json={"container": container}).json()["total"] == 1
    assert len(hits(http, "kettle", container)) == 1


def test_equal_posts_at_the_same_moment_are_one_document(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(http, "Many hands, one kettle.", container=container), range(16)))
    assert len({each["id"] for each in answers}) == 1
    assert sum(not each["deduplicated"] for each in answers) == 1


def test_a_failed_document_posted_again_is_processed_again(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    page = "<html><head><title>nothing</title></head><body><script>let x = 1</script></body></html>"
    first = post(http, page, container=container, content_type="html")
    failed = ended(http, first["id"])
    assert (failed["status"], failed["error_code"], failed["generation"]) == ("failed", "empty_extraction", 1)
    letters = http.get("/v1/dead-letters", params={"document_id": first["id"]}).json()
    assert letters["total"] == 1
    assert letters["dead_letters"][0]["code"] == "empty_extraction"
    second = post(http, page, container=container, content_type="html")
    assert second["id"] == first["id"]
    assert not second["deduplicated"]
    assert ended(http, first["id"])["generation"] == 2


def test_an_idempotency_key_with_another_body_is_refused(http: httpx.Client) -> None:
    key = {"idempotency-key": uuid4().hex}
    one = http.post("/v1/documents", json={"content": "first", "container": "keys"}, headers=key)
    same = http.post("/v1/documents", json={"content": "first", "container": "keys"}, headers=key)
    other = http.post("/v1/documents", json={"content": "second", "container": "keys"}, headers=key)
    assert (one.status_code, same.status_code, other.status_code) == (202, 202, 409)
    assert one.json()["id"] == same.json()["id"]
    assert other.json()["code"] == "idempotency_conflict"


def test_what_is_erased_is_gone_and_the_same_bytes_work_again(http: httpx.Client) -> None:
    container, text = f"c{uuid4().hex}", "A heron stood on the third step of the weir."
    first = post(http, text, container=container)
    ended(http, first["id"])
    assert hits(http, "heron weir", container)
    assert http.delete(f"/v1/documents/{first['id']}").json() == {"id": first["id"], "deleted": True}
    assert hits(http, "heron weir", container) == []
    assert http.get(f"/v1/documents/{first['id']}").status_code == 404
    assert http.delete(f"/v1/documents/{first['id']}").status_code == 404
    again = post(http, text, container=container)
    assert again["id"] == first["id"]
    assert ended(http, first["id"])["status"] == "done"
    assert len(hits(http, "heron weir", container)) == 1


def test_deleting_and_adding_at_the_same_moment_ends_in_one_of_the_two(http: httpx.Client) -> None:
    container, text = f"c{uuid4().hex}", "Two tides met in the narrow channel."
    identity = post(http, text, container=container)["id"]
    for _ in range(10):
        with ThreadPoolExecutor(2) as pool:
            removing = pool.submit(http.delete, f"/v1/documents/{identity}")
            adding = pool.submit(post, http, text, container=container)
            assert removing.result().status_code in {200, 404}
            assert adding.result()["id"] == identity
    # Whatever won the race, posting once more gives exactly one searchable document.
    post(http, text, container=container)
    assert ended(http, identity)["status"] == "done"
    eventually(lambda: len(hits(http, "tides narrow channel", container)) == 1)


def test_deleting_during_the_work_leaves_nothing(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    text = "\n\n".join(f"Paragraph {number} tells of the drowned village and its {number} bells." for number in range(400))
    for delay in (0.0, 0.05, 0.15, 0.4):
        identity = post(http, f"{text} {delay}", container=container)["id"]
        threading.Event().wait(delay)
        assert http.delete(f"/v1/documents/{identity}").status_code == 200
        assert hits(http, "drowned village bells", container) == []
    before = http.get("/v1/stats").json()["documents"]["by_status"]
    eventually(
        lambda: not any(http.get("/v1/stats").json()["documents"]["by_status"].get(each) for each in ("queued", "embedding", "indexing"))
    )
    assert hits(http, "drowned village bells", container) == [], before


def test_equal_bytes_in_two_documents_are_erased_independently(http: httpx.Client) -> None:
    one, two = f"c{uuid4().hex}", f"c{uuid4().hex}"
    text = "The miller owns a red umbrella."
    first, second = post(http, text, container=one), post(http, text, container=two)
    assert first["id"] != second["id"]
    ended(http, first["id"])
    ended(http, second["id"])
    http.delete(f"/v1/documents/{first['id']}")
    assert hits(http, "red umbrella", one) == []
    assert len(hits(http, "red umbrella", two)) == 1
    assert "red umbrella" in http.get(f"/v1/documents/{second['id']}/text").text


def test_a_new_version_replaces_the_old_one_after_it_succeeded(http: httpx.Client) -> None:
    container = f"c{uuid4().hex}"
    old = post(http, "The ferry leaves at seven.", container=container, custom_id="timetable")
    ended(http, old["id"])
    new = post(http, "The ferry leaves at nine.", container=container, custom_id="timetable")
    ended(http, new["id"])
    eventually(lambda: [hit["document_id"] for hit in hits(http, "When does the ferry leave?", container)] == [new["id"]])
    assert http.get(f"/v1/documents/{old['id']}").status_code == 404


@pytest.mark.parametrize("kind", ["status stream"])
def test_progress_can_be_watched(http: httpx.Client, kind: str) -> None:
    identity = post(http, "A slow boat to the island.")["id"]
    with http.stream("GET", f"/v1/documents/{identity}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream"), kind
        lines = list(stream.iter_lines())
    assert sum(line == "event: status" for line in lines) >= 1
    assert any('"status": "done"' in line for line in lines)


def test_large_documents_have_root_sections_and_two_way_waypoints(http: httpx.Client) -> None:
    paragraph = "The archive of the valley keeps letters, maps and the accounts of every mill since the great flood. "
    text = "\n\n".join(f"Chapter {number}. " + paragraph * 6 for number in range(60))
    container = f"c{uuid4().hex}"
    identity = post(http, text, container=container)["id"]
    document = ended(http, identity)
    assert document["status"] == "done"
    answer = http.post(
        "/v1/search", json={"query": "letters and maps of the valley archive", "container": container, "include_related": True}
    )
    assert answer.json()["results"]
    assert " ".join(http.get(f"/v1/documents/{identity}/text").text.split()) == " ".join(text.split())
