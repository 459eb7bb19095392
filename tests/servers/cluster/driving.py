"""A client of the whole cluster: posts, waits for ends, and goes on posting while parts of it are away."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from servers.fixtures import TOKEN

ENDS = {"done", "failed", "cancelled"}
POISON = "<html><body><script>1</script></body></html>"
"""Without a word to be found by: `empty_extraction`."""
ACCEPTED = 202
WORDS = ["harbour", "lantern", "copper", "meadow", "engine", "violin", "glacier", "pepper", "saddle", "ticket", "anchor", "window"]


def client(url: str, *, timeout: float = 60) -> httpx.Client:
    """A client of a gateway's HTTP door."""
    return httpx.Client(base_url=url, timeout=timeout, headers={"Authorization": f"Bearer {TOKEN}"})


def eventually(condition: Callable[[], bool], limit_s: float, what: Callable[[], object] = lambda: "") -> None:
    """Look again and again until it holds."""
    deadline, tick = time.monotonic() + limit_s, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"not in time: {what()}"
        tick.wait(0.1)


def post(http: httpx.Client, content: str, container: str, **fields: Any) -> str:
    """Accepted at once; the id."""
    answer = http.post("/v1/documents", json={"content": content, "container": container, **fields})
    assert answer.status_code == ACCEPTED, answer.text
    return str(answer.json()["id"])


def of(http: httpx.Client, identity: str) -> dict[str, Any]:
    """The document."""
    answer = http.get(f"/v1/documents/{identity}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ended(http: httpx.Client, ids: Sequence[str], limit_s: float = 400) -> list[dict[str, Any]]:
    """All of them, once each has come to its end."""
    open_ones = set(ids)

    def all_ended() -> bool:
        open_ones.difference_update([each for each in open_ones if of(http, each)["status"] in ENDS])
        return not open_ones

    eventually(all_ended, limit_s, lambda: [of(http, each) for each in sorted(open_ones)[:3]])
    return [of(http, each) for each in ids]


def search(http: httpx.Client, query: str, container: str, **more: Any) -> dict[str, Any]:
    """The answer of a search that must be answered."""
    answer = http.post("/v1/search", json={"query": query, "container": container, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def hits(http: httpx.Client, query: str, container: str, **more: Any) -> list[dict[str, Any]]:
    """What a search finds."""
    found: list[dict[str, Any]] = search(http, query, container, **more)["results"]
    return found


def letters(http: httpx.Client, **parameters: Any) -> list[dict[str, Any]]:
    """The dead letters that nobody has replayed."""
    answer = http.get("/v1/dead-letters", params={"limit": 1000, **parameters})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["dead_letters"]
    return found


class Wave:
    """Posts one document after the other in a thread. What is not acknowledged is posted again until it is: half of them by their
    idempotency key, the others by being the same content. Every eighth is poison.
    """

    def __init__(self, url: str, container: str, *, pause_s: float = 0.2) -> None:
        self.container = container
        self.texts: dict[str, str] = {}
        """What was acknowledged, by id."""
        self.poison: list[str] = []
        self.accepted: list[tuple[float, float]] = []
        """When each call that was acknowledged began, and how long it took."""
        self.refusals: Counter[str] = Counter()
        """Why calls were repeated."""
        self._url = url
        self._pause_s = pause_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="wave")

    @property
    def count(self) -> int:
        """Acknowledged so far."""
        return len(self.texts) + len(self.poison)

    def more(self, count: int, limit_s: float = 120) -> None:
        """Return when so many more are acknowledged."""
        before = self.count
        eventually(lambda: self.count >= before + count, limit_s, lambda: self.refusals)

    @contextmanager
    def rolling(self) -> Iterator[None]:
        """Post while the block runs. At its end the last one is acknowledged too, so that accepted are exactly these."""
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join(120)
        assert not self._thread.is_alive(), f"the last document was not accepted: {self.refusals}"

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            body = self._body(number)
            identity = self._acknowledged(body, {"idempotency-key": f"{self.container}-{number}"} if number % 2 else {})
            if identity is None:
                return
            if body["content"] == POISON:
                self.poison.append(identity)
            else:
                self.texts[identity] = str(body["content"])
            number += 1
            self._stop.wait(self._pause_s)

    def _body(self, number: int) -> Mapping[str, object]:
        if number % 8 == 7:
            return {"content": POISON, "content_type": "html", "container": self.container, "name": f"empty{number}.html"}
        topic = f"{WORDS[number % len(WORDS)]} {WORDS[number * 5 % 11]}"
        text = f"Report {number} of the {topic}. Remember that parcel{number} waits at the {topic}."
        if number % 4 == 0:  # of several passages
            text += "".join(f"\n\nThe {topic} of parcel{number} was seen {each} times." for each in range(120))
        return {"content": text, "container": self.container, "name": f"report{number}.md", "content_type": "markdown"}

    def _acknowledged(self, body: Mapping[str, object], headers: Mapping[str, str]) -> str | None:
        give_up = time.monotonic() + 100
        while time.monotonic() < give_up:
            # A client for each call, as of many callers: kept connections die with the gateway.
            with client(self._url, timeout=30) as http:
                began = time.monotonic()
                try:
                    answer = http.post("/v1/documents", json=body, headers=headers)
                except httpx.HTTPError as error:
                    self.refusals[type(error).__name__] += 1
                else:
                    if answer.status_code == ACCEPTED:
                        self.accepted.append((began, time.monotonic() - began))
                        return str(answer.json()["id"])
                    self.refusals[f"{answer.status_code} {answer.json().get('code')}"] += 1
            threading.Event().wait(0.1)
        return None
