"""`eunoe export` and `eunoe import` between two servers of one process each."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess, serving

EUNOE = str(Path(sys.executable).parent / "eunoe")
WORDS_ONLY = {"EUNOE_MODELS__PROFILE": "none"}
LATIN = "L'été fut très chaud à Genève.".encode("latin-1")


def run(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([EUNOE, *words], input=stdin, capture_output=True, timeout=90, check=False, env={**os.environ, **WORDS_ONLY})


def imported(server: ServerProcess, file: str, *, stdin: bytes = b"", code: int = 0) -> Any:
    done = run("import", file, "--data-dir", str(server.data_dir), "--json", stdin=stdin)
    assert done.returncode == code, done.stderr.decode()
    return json.loads(done.stdout)


class Client:
    """Calls on one server."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def post(self, content: str, **fields: Any) -> str:
        answer = self.http.post("/v1/documents", json={"content": content, "container": "team.notes", **fields})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def document(self, identity: str) -> Any:
        answer = self.http.get(f"/v1/documents/{identity}")
        return answer.json() if answer.status_code == 200 else None

    def wait(self) -> None:
        deadline, tick = time.monotonic() + 60, threading.Event()
        for status in ("queued", "extracting", "chunking", "embedding", "indexing"):
            while self.http.post("/v1/documents/list", json={"status": status}).json()["total"]:
                assert time.monotonic() < deadline
                tick.wait(0.05)

    def search(self, query: str) -> list[tuple[str, str, str]]:
        found = self.http.post("/v1/search", json={"query": query, "container": "team.notes"}).json()["results"]
        return [(each["document_id"], each["id"], each["content"]) for each in found]

    def memory(self, word: str) -> str:
        return next(identity for _, identity, text in self.search(word) if word in text and self.kind(identity) not in {"passage", "root"})

    def kind(self, identity: str) -> str:
        return str(self.http.get(f"/v1/memories/{identity}").json()["kind"])


@contextmanager
def client_of(server: ServerProcess) -> Iterator[Client]:
    with httpx.Client(base_url=server.url, timeout=30, headers={"authorization": f"Bearer {server.running.secret}"}) as http:
        yield Client(http)


QUERIES = ("Who owns the red skiff?", "What colour does Mara like?", "Genève", "second turn about anchors")
KEPT = ("container", "content_type", "name", "custom_id", "metadata", "tags", "size_bytes", "sha256", "event_time", "created_at")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with serving(tmp_path_factory.mktemp("source") / "data", WORDS_ONLY) as running:
        yield running


@pytest.fixture(scope="module")
def filled(source: ServerProcess) -> dict[str, str]:
    """Every kind of document, edits and erasures; ids by what they are."""
    with client_of(source) as client:
        return fill(client)


def fill(client: Client) -> dict[str, str]:
    ids = {
        "text": client.post("The red skiff belongs to Mara. I prefer green tea.", name="boats.txt", metadata={"n": 3, "x": [1.5, None]}),
        "claimed": client.post("<p>Not a page, but a text about pages.</p>", content_type="text", tags=["raw"]),
        "old": client.post("The gate code is 1111.", name="gate.txt", custom_id="gate"),
    }
    upload = {"file": ("été.txt", LATIN)}
    ids["latin"] = client.http.post("/v1/documents/upload", files=upload, data={"container": "team.notes"}).json()["id"]
    keyed = {"content": "Keyed words.", "container": "team.notes"}
    ids["keyed"] = client.http.post("/v1/documents", json=keyed, headers={"idempotency-key": "k1"}).json()["id"]
    for at, text in enumerate(("first turn about ropes", "second turn about anchors")):
        turn = {"session": "s1", "position": at, "speaker": "Ann", "date": "2026-03-01"}
        ids[f"turn{at}"] = client.post(text, name=f"s1#{at}", metadata=turn, event_time="2026-03-01T10:00:00Z")
    ids["erased"] = client.post("My favourite secret is a lighthouse.")
    ids["broken"] = client.http.post(
        "/v1/documents/upload", files={"file": ("a.pdf", b"%PDF-1.7\n1 0 obj")}, data={"container": "team.notes"}
    ).json()["id"]
    ids["removed from"] = client.post("I prefer windows over doors.")
    ids["new"] = client.post("The gate code is 2222.", name="gate.txt", custom_id="gate")
    client.wait()
    assert client.http.delete(f"/v1/documents/{ids['erased']}").status_code == 200
    ids["edited memory"], ids["removed memory"] = client.memory("green tea"), client.memory("windows over doors")
    change = {"tags": ["mine"], "is_latest": False, "metadata": {"checked": True}, "confidence": 0.25}
    assert client.http.patch(f"/v1/memories/{ids['edited memory']}", json=change).status_code == 200
    assert client.http.delete(f"/v1/memories/{ids['removed memory']}").status_code == 200
    return ids


@pytest.fixture(scope="module")
def export(source: ServerProcess, filled: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("export") / "all.tar"
    done = run("export", str(file), "--data-dir", str(source.data_dir), "--json")
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout)
    assert (report["documents"], report["edited"], report["removed"], report["unreadable"]) == (9, 1, 1, [])
    assert file.stat().st_mode & 0o077 == 0
    assert run("export", str(file), "--data-dir", str(source.data_dir)).returncode == 2  # never over another one
    streamed = run("export", "-", "--data-dir", str(source.data_dir))
    assert streamed.returncode == 0, streamed.stderr.decode()
    assert names(streamed.stdout) == names(file.read_bytes())
    return file.read_bytes()


def names(data: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return tar.getnames()


def test_what_is_moved_answers_as_before(source: ServerProcess, filled: dict[str, str], export: bytes, tmp_path: Path) -> None:
    (tmp_path / "all.tar").write_bytes(export)
    with serving(tmp_path / "target", WORDS_ONLY) as target, client_of(source) as here, client_of(target) as there:
        report = imported(target, str(tmp_path / "all.tar"), code=1)  # the damaged file is still damaged
        assert report["documents"] == {"done": 8, "failed": 1}
        assert (report["memories"], report["complete"]) == ({"applied": 2, "left": 0, "missing": 0}, True)
        for name in ("text", "claimed", "latin", "keyed", "turn0", "turn1", "broken", "removed from", "new"):
            old, new = here.document(filled[name]), there.document(filled[name])
            assert {field: new[field] for field in KEPT} == {field: old[field] for field in KEPT}, name
            bytes_there = there.http.get(f"/v1/documents/{filled[name]}/content")
            assert bytes_there.content == here.http.get(f"/v1/documents/{filled[name]}/content").content
            assert hashlib.sha256(bytes_there.content).hexdigest() == old["sha256"]
        assert there.http.get(f"/v1/documents/{filled['latin']}/content").content == LATIN
        for query in QUERIES:
            assert there.search(query) == here.search(query), query
        assert [there.document(filled[name]) for name in ("erased", "old")] == [None, None]
        edited = there.http.get(f"/v1/memories/{filled['edited memory']}").json()
        assert (edited["tags"], edited["is_latest"], edited["metadata"]) == (["mine"], False, {"checked": True})
        assert there.http.get(f"/v1/memories/{filled['removed memory']}").status_code == 404
        # A retry of the original post finds its document.
        again = {"content": "Keyed words.", "container": "team.notes"}
        assert there.http.post("/v1/documents", json=again, headers={"idempotency-key": "k1"}).json()["id"] == filled["keyed"]
        repeated(target, there, filled, export)


def repeated(target: ServerProcess, there: Client, ids: dict[str, str], export: bytes) -> None:
    """The same export once more, after changes: nothing that was erased, replaced or edited here comes back."""
    state = [there.document(ids[name]) for name in ("text", "keyed", "turn0", "broken")]
    there.http.delete(f"/v1/documents/{ids['claimed']}")
    there.post("The gate code is 3333.", name="gate.txt", custom_id="gate")
    there.http.patch(f"/v1/memories/{ids['edited memory']}", json={"tags": ["changed here"]})
    there.wait()
    report = imported(target, "-", stdin=export)
    assert report["documents"] == {"erased here": 1, "replaced here": 1, "unchanged": 7}
    assert report["memories"] == {"applied": 0, "left": 1, "missing": 0}
    assert [there.document(ids[name]) for name in ("text", "keyed", "turn0", "broken")] == state
    assert there.document(ids["claimed"]) is None
    assert [text for _, _, text in there.search("gate code") if "gate" in text] == ["The gate code is 3333."]
    assert there.http.get(f"/v1/memories/{ids['edited memory']}").json()["tags"] == ["changed here"]


def test_an_import_that_was_cut_off_says_so_and_goes_on(export: bytes, filled: dict[str, str], tmp_path: Path) -> None:
    target = ServerProcess(tmp_path / "data")  # never started: the command runs the pipeline itself
    cut = export[: export.index(b"documents/0000005.bin")]
    report = imported(target, "-", stdin=cut, code=1)
    assert (report["complete"], len(report["items"]), "ends early" in report["error"]) == (False, 4, True)
    report = imported(target, "-", stdin=export, code=1)
    assert (report["complete"], len(report["items"]), report["documents"]["failed"]) == (True, 9, 1)
    assert report["documents"]["done"] + report["documents"].get("unchanged", 0) == 8


def test_of_a_broken_file_nothing_is_imported(source: ServerProcess, export: bytes, tmp_path: Path) -> None:
    def refused(data: bytes) -> str:
        (tmp_path / "bad.tar").write_bytes(data)
        done = run("import", str(tmp_path / "bad.tar"), "--data-dir", str(tmp_path / "data"))
        assert done.returncode == 2, done.stderr.decode()
        return done.stderr.decode()

    assert "ends early" in refused(export[: len(export) // 2])
    assert "ends early" in refused(export[: export.index(b"end.json")])
    assert "checksum" in refused(export.replace(b"Keyed words.", b"Other words."))
    assert "checksum" in refused(export.replace(b'"tags": ["raw"]', b'"tags": ["RAW"]'))
    assert "no export" in refused(b"a letter to Mara")
    assert "no export" in refused(b"")
    assert "newer eunoe" in refused(export.replace(b'"version": 1', b'"version": 9'))
    with io.BytesIO() as file, tarfile.open(fileobj=file, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../../etc/passwd"))
        assert "no export" in refused(file.getvalue())
    assert not (tmp_path / "data").exists()
    assert run("import", str(tmp_path / "none.tar")).returncode == 2
