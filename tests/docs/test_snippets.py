"""Every snippet of the README runs, in the order of the page, against a server on free ports and a directory of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess, serving
from eunoe_telemetry.testing import eventually

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EUNOE = str(Path(sys.executable).parent / "eunoe")
LIMIT_S = 120

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2 * LIMIT_S)]


@dataclass(frozen=True)
class Snippet:
    """A fenced block of the page."""

    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.language}-line-{self.line}"


def snippets() -> list[Snippet]:
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [Snippet(each[1], each[2].strip(), README[: each.start()].count("\n") + 1) for each in found]


SNIPPETS = snippets()
DEMO, SERVE = "make demo", ".venv/bin/eunoe serve"
PLAIN = [each for each in SNIPPETS if each.text not in {DEMO, SERVE}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("readme") / "data") as running:
        yield running


def run(command: list[str], **settings: str) -> str:
    """The output of a command that ends well."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True, timeout=LIMIT_S, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_has_what_a_newcomer_needs() -> None:
    assert {each.language for each in SNIPPETS} == {"bash", "python"}
    texts = [each.text for each in SNIPPETS]
    assert DEMO in texts
    assert SERVE in texts
    for word in ("eunoe ingest", "eunoe search", "curl", "grpc", "urllib"):
        assert any(word in each for each in texts), word


def test_make_demo(tmp_path: Path) -> None:
    """`make demo` is this command after `make setup`, which ran before these tests."""
    recipe = re.search(r"^demo: setup .*\n\t@\$\(BIN\)/(.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe is not None
    assert recipe[1] == "eunoe demo --data-dir .demo"
    for _ in range(2):  # the second time everything is there already
        output = run([EUNOE, "demo", "--data-dir", str(tmp_path / "demo")])
        assert len(re.findall(r"^\? ", output, re.MULTILINE)) == 3
        assert len(re.findall(r"^  -- .+ \(score [01]\.\d\d\)$", output, re.MULTILINE)) == 3


def test_serve(server: ServerProcess) -> None:
    """The fixture is `eunoe serve`; this is what a browser finds there."""
    assert httpx.get(f"{server.url}/health").json()["status"] == "healthy"
    assert httpx.get(f"{server.url}/ready").json()["ready"] is True
    assert "/v1/documents" in httpx.get(f"{server.url}/docs").text


async def test_snippets_in_the_order_of_the_page(server: ServerProcess) -> None:
    """One test: what a snippet finds, an earlier one took in."""
    for each in PLAIN:
        await follow(server, each)


async def follow(server: ServerProcess, snippet: Snippet) -> None:
    addresses = {"127.0.0.1:8080": server.running.http, "127.0.0.1:50051": server.running.grpc, ".venv/bin/eunoe": EUNOE}
    text = snippet.text
    for written, actual in addresses.items():
        text = text.replace(written, actual)
    command = ["bash", "-euo", "pipefail", "-c", text] if snippet.language == "bash" else [sys.executable, "-c", text]
    output = run(command, EUNOE_SERVER__DATA_DIR=str(server.data_dir))
    for said, expected in {
        "eunoe search": "ARCHITECTURE.md",
        "curl": '"status":"queued"',
        "WatchDocument": "done",
        "Where does Anna live?": "Anna moved to Oslo",
    }.items():
        if said in snippet.text:
            assert expected in output, snippet

    def nothing_open() -> bool:
        counts = httpx.get(f"{server.url}/v1/stats").json()["documents"]["by_status"]
        return set(counts) <= {"done", "failed"} or not sum(count for name, count in counts.items() if name not in {"done", "failed"})

    await eventually(nothing_open, timeout_s=LIMIT_S)
