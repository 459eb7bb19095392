"""The command line as people and scripts use it, with a server and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from eunoe_standalone.testing import ServerProcess, serving
from eunoe_stores.sqlite.lock import DataDirectoryLock
from servers.door import Door

EUNOE = str(Path(sys.executable).parent / "eunoe")


def run(
    *words: str, settings: Mapping[str, str] | None = None, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [EUNOE, *words], input=stdin, capture_output=True, timeout=90, check=False, cwd=cwd, env={**os.environ, **(settings or {})}
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def as_json(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / "deep").mkdir(parents=True)
    (root / "boats.md").write_text("# Boats\n\nThe red skiff belongs to Mara.\n", encoding="utf-8")
    (root / "deep" / "wells.txt").write_text("The north well is nine metres deep.\n", encoding="utf-8")
    (root / ".hidden").write_text("never read", encoding="utf-8")
    return root


def test_ingest_search_status_against_a_server(server: ServerProcess, folder: Path) -> None:
    where = ("--data-dir", str(server.data_dir), "--json")
    done = run("ingest", str(folder), "--container", "cli", *where)
    assert done.returncode == 0, done.stderr
    items = as_json(done)["items"]
    assert [(Path(each["path"]).name, each["status"]) for each in items] == [("boats.md", "done"), ("wells.txt", "done")]
    found = as_json(run("search", "How deep is the north well?", "--container", "cli", *where))
    assert found["results"][0]["source"]["custom_id"] == "deep/wells.txt"
    assert 0 <= found["results"][0]["score"] <= 1
    status = as_json(run("status", items[0]["id"], *where))
    assert status["status"] == "done"
    assert "cli" in [each["name"] for each in as_json(run("containers", *where))["containers"]]


def test_a_server_is_named_by_its_address(door: Door, folder: Path) -> None:
    where, settings = ("--server", door.grpc, "--json"), {"EUNOE_CLIENT__TOKEN": door.token}
    container = f"named{uuid4().hex}"
    done = run("ingest", str(folder), "--container", container, *where, settings=settings)
    assert done.returncode == 0, done.stderr
    items = as_json(done)["items"]
    assert [each["status"] for each in items] == ["done", "done"]
    again = as_json(run("ingest", str(folder), "--container", container, *where, settings=settings))
    assert [each["status"] for each in again["items"]] == ["unchanged", "unchanged"]
    found = as_json(run("search", "Who owns the red skiff?", "--container", container, *where, settings=settings))
    assert found["results"][0]["source"]["custom_id"] == "boats.md"
    assert as_json(run("status", items[0]["id"], *where, settings=settings))["status"] == "done"
    gone = run("forget", "--container", container, "--yes", *where, settings=settings)
    assert as_json(gone) == {"erased": 2}, gone.stderr


def test_unchanged_files_are_skipped_changed_ones_replaced_vanished_ones_pruned(server: ServerProcess, folder: Path) -> None:
    where = ("--container", "sync", "--data-dir", str(server.data_dir), "--json")
    run("ingest", str(folder), *where)
    (folder / "boats.md").write_text("# Boats\n\nThe red skiff belongs to Tove now.\n", encoding="utf-8")
    (folder / "deep" / "wells.txt").unlink()
    done = run("ingest", str(folder), "--prune", "--yes", *where)
    assert done.returncode == 0, done.stderr
    assert as_json(done)["pruned"] == ["deep/wells.txt"]
    hits = as_json(run("search", "Who owns the red skiff?", *where))["results"]
    assert ["Tove" in hit["content"] for hit in hits] == [True]
    again = as_json(run("ingest", str(folder), *where))
    assert [each["status"] for each in again["items"]] == ["unchanged"]


def test_a_failed_item_is_named_and_the_exit_code_says_so(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00" * 64)
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "fine.txt").write_text("All is well at the lock.", encoding="utf-8")
    done = run("ingest", str(tmp_path), "--container", "mixed", "--data-dir", str(server.data_dir))
    assert done.returncode == 1
    assert "picture.png" in done.stderr
    assert "[unsupported_format]" in done.stderr
    assert "empty.txt" in done.stderr
    assert "[empty_file]" in done.stderr
    assert "1 done" in done.stdout


def test_standard_input(server: ServerProcess) -> None:
    where = ("--container", "pipe", "--data-dir", str(server.data_dir), "--json")
    done = run("ingest", "-", "--name", "fog.txt", *where, stdin=b"Fog came in at four.")
    assert [each["status"] for each in as_json(done)["items"]] == ["done"]
    empty = run("ingest", "-", "--name", "fog.txt", *where[:-1])
    assert (empty.returncode, "refused: fog.txt:" in empty.stderr) == (1, True)


def test_files_of_one_name_in_two_folders_are_both_kept(server: ServerProcess, tmp_path: Path) -> None:
    for name, text in (("a", "The alpha boat is red."), ("b", "The beta boat is blue.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.md").write_text(text, encoding="utf-8")
    where = ("--container", "twins", "--data-dir", str(server.data_dir))
    assert run("ingest", str(tmp_path / "a"), str(tmp_path / "b"), *where).returncode == 0
    listed = as_json(run("status", *where, "--json"))
    assert sorted(each["custom_id"] for each in listed["documents"]) == ["a/notes.md", "b/notes.md"]
    shown = run("status", *where).stdout
    assert all(each["id"] in shown for each in listed["documents"])
    assert "[b/notes.md]" in run("search", "beta", *where).stdout


def test_forget_names_what_it_could_not_erase(server: ServerProcess, folder: Path) -> None:
    where = ("--data-dir", str(server.data_dir))
    items = as_json(run("ingest", str(folder), "--container", "lost", *where, "--json"))["items"]
    done = run("forget", items[0]["id"], "00000000-0000-0000-0000-000000000000", items[1]["id"], *where)
    assert (done.returncode, done.stdout) == (1, "erased 2 documents\n")
    assert "00000000-0000-0000-0000-000000000000: There is no document" in done.stderr
    unanswered = run("forget", "--container", "cli", *where)
    assert (unanswered.returncode, "--yes" in unanswered.stderr) == (2, True)


def test_a_command_waits_for_a_server_that_is_starting(folder: Path, tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "data"))
    words = [EUNOE, "serve", *where, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            done = run("ingest", str(folder), *where)  # at once: sometimes it is quicker itself, and the server is refused
            assert done.returncode == 0, done.stderr
        finally:
            server.terminate()
            server.wait(60)


def test_usage_errors(server: ServerProcess, tmp_path: Path) -> None:
    where = ("--data-dir", str(server.data_dir))
    assert run("ingest", str(tmp_path / "nowhere"), *where).returncode == 2
    assert run("status", "not-an-id", *where).returncode == 2
    assert run("search", "", *where).returncode == 2
    assert run("no-such-command").returncode == 2
    assert run("forget", *where).returncode == 2
    assert run("serve", "--http", "nowhere").returncode == 2
    assert run("models", "pull", "no-such-model").returncode == 2


def test_without_a_server_the_command_runs_the_pipeline_itself(folder: Path, tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "own"), "--json")
    done = run("ingest", str(folder), *where)
    assert [each["status"] for each in as_json(done)["items"]] == ["done", "done"], done.stderr
    found = as_json(run("search", "Who owns the red skiff?", *where))
    assert found["results"][0]["source"]["name"] == "boats.md"
    identity = as_json(done)["items"][0]["id"]
    assert as_json(run("forget", identity, *where)) == {"erased": 1}
    doctor = run("doctor", *where)
    assert {each["name"] for each in as_json(doctor) if not each["ok"]} == set(), doctor.stdout


def test_doctor_tells_what_it_found_though_the_audit_fails(tmp_path: Path) -> None:
    (tmp_path / "eunoe.db").touch()
    with DataDirectoryLock(tmp_path):
        done = run("doctor", "--data-dir", str(tmp_path), "--json")
    assert done.returncode == 3
    found = {each["name"]: each for each in as_json(done)}
    assert found["sqlite"]["ok"] is True
    assert (found["audit"]["ok"], "is using" in found["audit"]["reason"]) == (False, True)


def test_without_a_server_and_a_model_the_command_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    settings = {"EUNOE_MODELS__DIR": str(tmp_path / "no-models")}
    done = run("ingest", str(folder), "--data-dir", str(tmp_path / "own"), "--json", settings=settings)
    assert [each["status"] for each in as_json(done)["items"]] == ["done", "done"], done.stderr
    assert "eunoe models pull" in done.stderr


def test_two_writers_cannot_happen(server: ServerProcess) -> None:
    second = run("serve", "--data-dir", str(server.data_dir), "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
    assert second.returncode == 3
    assert "is using" in second.stderr
    assert httpx.get(f"{server.url}/live").status_code == 200


def test_other_addresses_need_a_token(tmp_path: Path) -> None:
    done = run("serve", "--data-dir", str(tmp_path / "data"), "--http", "0.0.0.0:0", "--grpc", "127.0.0.1:0")
    assert done.returncode == 3
    assert "token" in done.stderr


def test_tokens(server: ServerProcess) -> None:
    where = ("--data-dir", str(server.data_dir), "--json")
    created = as_json(run("tokens", "create", "reader", "--scope", "search", *where))
    with httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {created['secret']}"}) as client:
        assert client.post("/v1/search", json={"query": "anything"}).status_code == 200
        refused = client.post("/v1/documents", json={"content": "x", "container": "y"})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
        assert run("tokens", "revoke", created["token"]["id"], *where).returncode == 0
        assert client.post("/v1/search", json={"query": "anything"}).status_code == 401
    assert created["secret"] not in run("tokens", "list", *where).stdout


def test_dead_letters(server: ServerProcess, tmp_path: Path) -> None:
    where = ("--data-dir", str(server.data_dir), "--json")
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog")
    done = run("ingest", str(tmp_path / "cut.pdf"), "--container", "broken", *where)
    assert done.returncode == 1
    item = as_json(done)["items"][0]
    assert (item["status"], item["code"]) == ("failed", "corrupt_document")
    letters = as_json(run("dead-letters", "list", "--document", item["id"], *where))
    assert [each["code"] for each in letters["dead_letters"]] == ["corrupt_document"]
    letter = letters["dead_letters"][0]["id"]
    shown = as_json(run("dead-letters", "show", letter, *where))
    assert (shown["stage"], shown["tenant"], shown["attempts"]) == ("extract", "default", 1)
    assert shown["first_failed_at"] <= shown["last_failed_at"]
    for only, found in ((("--since", "2999-01-01"), 0), (("--until", "2999-01-01T00:00:00Z"), 1), (("--tenant", "other"), 0)):
        words = ("--document", item["id"], *only, *where)
        assert len(as_json(run("dead-letters", "list", *words))["dead_letters"]) == found
        assert as_json(run("dead-letters", "replay", "--dry-run", *words))["matched"] == found
    assert run("dead-letters", "list", "--since", "yesterday", *where).returncode == 2
    assert as_json(run("dead-letters", "replay", letter, "--dry-run", *where))["matched"] == 1
    assert as_json(run("dead-letters", "replay", letter, *where))["replayed"] == 1
    again = run("ingest", str(tmp_path / "cut.pdf"), "--container", "broken", *where)  # still cut, so it fails again
    assert as_json(again)["items"][0]["code"] == "corrupt_document"
    assert as_json(run("dead-letters", "show", letter, *where))["replays"] == 1


def test_config_names_origins_hides_secrets_and_refuses_typing_mistakes(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("EUNOE_GATEWAY__QUEUE_LIMIT=77\n", encoding="utf-8")
    settings = {"EUNOE_AUTH__API_TOKEN": "very-secret-token"}
    found = {each["variable"]: each for each in as_json(run("config", "--json", settings=settings, cwd=tmp_path))}
    assert found["EUNOE_GATEWAY__QUEUE_LIMIT"] == {"variable": "EUNOE_GATEWAY__QUEUE_LIMIT", "value": "77", "origin": ".env"}
    assert found["EUNOE_AUTH__API_TOKEN"]["value"] == "(set)"
    mistake = run("config", settings={"EUNOE_GATEWAY__QUEUE_LIMT": "3"}, cwd=tmp_path)
    assert mistake.returncode == 3
    assert "EUNOE_GATEWAY__QUEUE_LIMT" in mistake.stderr
    assert run("config", settings={"EUNOE_GATEWAY_SERVICE_PORT": "3"}, cwd=tmp_path).returncode == 0
    wrong = run("config", settings={"EUNOE_GATEWAY__QUEUE_LIMIT": "many"}, cwd=tmp_path)
    assert wrong.returncode == 3
    assert "EUNOE_GATEWAY__QUEUE_LIMIT" in wrong.stderr


def test_init_writes_settings_and_says_what_is_there(tmp_path: Path) -> None:
    done = run("init", "--data-dir", str(tmp_path / "data"), "--no-pull", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"EUNOE_SERVER__DATA_DIR={tmp_path / 'data'}" in (tmp_path / ".env").read_text(encoding="utf-8")
    assert (tmp_path / "data").is_dir()
    assert "embedding model" in done.stdout


@pytest.mark.slow
def test_without_a_model_words_are_searched_and_ready_says_so(tmp_path: Path, folder: Path) -> None:
    settings = {"EUNOE_MODELS__DIR": str(tmp_path / "no-models")}
    with serving(tmp_path / "data", settings) as running:
        ready = httpx.get(f"{running.url}/ready").json()
        assert ready["ready"] is True
        assert "eunoe models pull" in ready["parts"]["embedding model"]["reason"]
        where = ("--data-dir", str(running.data_dir), "--json")
        assert run("ingest", str(folder), *where).returncode == 0
        found = as_json(run("search", "north well", *where))
        assert found["results"][0]["source"]["name"] == "wells.txt"
    # A model appears later: the rows have no vectors yet, which a rebuild gives them.
    assert run("doctor", "--rebuild", "--data-dir", str(tmp_path / "data")).returncode == 0


def test_every_command_prints_json_alone_on_stdout(tmp_path: Path) -> None:
    demo = run("demo", "--data-dir", str(tmp_path / "demo"), "--json")
    assert demo.returncode == 0, demo.stderr
    assert all(as_json(demo)["answers"].values())
    init = run("init", "--data-dir", str(tmp_path / "data"), "--no-pull", "--json", cwd=tmp_path)
    assert as_json(init)["wrote_env"] is True
    assert as_json(run("models", "list", "--json"))
