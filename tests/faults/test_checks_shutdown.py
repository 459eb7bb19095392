"""Check 16 of the fault list: SIGTERM and SIGKILL of a real server in the middle of an item."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess

PARTS = 150
LONG_TEXT = "\n\n".join(f"Part {n} of the survey. " + "The water was clear and cold that day. " * 40 for n in range(PARTS))
"""A second or more of work, so that a signal comes in the middle of it."""


def eventually(check: Callable[[], Any], *, within_s: float, what: str) -> Any:
    """The first true answer, looked for every 20 ms."""
    deadline, tick = time.monotonic() + within_s, threading.Event()
    while not (found := check()):
        assert time.monotonic() < deadline, what
        tick.wait(0.02)
    return found


def status(server: ServerProcess, document: str) -> str:
    return str(httpx.get(f"{server.url}/v1/documents/{document}", timeout=10).json()["status"])


def end_in_the_middle(server: ServerProcess, name: str, ending: Callable[[], Any]) -> tuple[str, float]:
    """Post a long text, end the server while it is being read; the document's id and the seconds that the end took."""
    body = {"content": f"{name}. {LONG_TEXT}", "container": "c", "name": name}
    answer = httpx.post(f"{server.url}/v1/documents", json=body, timeout=20)
    assert answer.status_code == 202
    document = str(answer.json()["id"])
    eventually(lambda: status(server, document) == "extracting", within_s=10, what="the item was never in work")
    started = time.monotonic()
    ending()
    return document, time.monotonic() - started


@pytest.mark.parametrize(
    ("grace_s", "number", "longest_s"), [(0, signal.SIGTERM, 5), (1, signal.SIGTERM, 6), (20, signal.SIGTERM, 25), (20, signal.SIGKILL, 5)]
)
def test_check_16_a_signal_in_the_middle_of_an_item_commits_nothing_unfinished(
    tmp_path: Path, grace_s: int, number: signal.Signals, longest_s: float
) -> None:
    """Without grace, with too little, with enough, and killed: the process ends in time, and the next one finishes the item once."""
    settings = {"EUNOE_MODELS__PROFILE": "none", "EUNOE_SERVER__DRAIN_S": str(grace_s)}
    server = ServerProcess(tmp_path / "data", settings)
    server.start()
    codes: list[int] = []

    def ending() -> None:
        if number is signal.SIGKILL:
            os.kill(server.running.pid, signal.SIGKILL)
        codes.append(server.stop())

    try:
        document, took_s = end_in_the_middle(server, f"grace {grace_s}", ending)
        assert took_s < longest_s
        assert codes == [-9 if number is signal.SIGKILL else 0], server.log.read_text(encoding="utf-8")[-2000:]
        server.start()
        eventually(lambda: status(server, document) == "done", within_s=30, what="the item was lost")
        found = httpx.get(f"{server.url}/v1/documents/{document}", timeout=10).json()
        assert (found["generation"], found["searchable"]) == (1, True)
        text = httpx.get(f"{server.url}/v1/documents/{document}/text", timeout=10).text
        assert [text.count(f"Part {n} of the survey.") for n in range(PARTS)] == [1] * PARTS
    finally:
        server.stop()
