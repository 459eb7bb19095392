"""`eunoe bench retrieval` on a folder of a few documents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EUNOE = str(Path(sys.executable).parent / "eunoe")
TURNS = ["How was the regatta?", "We came second, the skiff was fast.", "And the weather?", "A gale in the afternoon."]
TEXTS = {"weir": "A weir is a low dam across a river.", "lock": "A lock lifts boats from one level to another."}
QUESTIONS = {"What lifts boats?": "lock", "Which dam crosses a river?": "weir", "Was there a gale?": "turn3"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows: list[dict[str, Any]] = [{"_id": name, "title": name.title(), "text": text} for name, text in TEXTS.items()]
    for position, text in enumerate(TURNS):
        where = {"container": "talk", "session": "s1", "date": "2 May 2024", "speaker": "Mara" if position % 2 else "Tove"}
        rows.append({"_id": f"turn{position}", "title": "", "text": text, "metadata": {**where, "position": position}})
    questions = [{"_id": text, "text": text, "metadata": {"category": 1 if gold == "turn3" else 4}} for text, gold in QUESTIONS.items()]
    root = tmp_path / "tiny"
    root.mkdir()
    (root / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (root / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    lines = ["query-id\tcorpus-id\tscore", *(f"{text}\t{gold}\t1" for text, gold in QUESTIONS.items())]
    (root / "qrels.tsv").write_text("\n".join(lines), encoding="utf-8")
    return root


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([EUNOE, "bench", "retrieval", *words], capture_output=True, text=True, timeout=90, check=False)


def test_every_arm_is_measured(folder: Path) -> None:
    done = run(str(folder), "--ablate", "--json")
    assert done.returncode == 0, done.stderr
    (measured,) = json.loads(done.stdout)["sets"]
    assert (measured["set"], measured["documents"], measured["failed"]) == ("tiny", 6, 0)
    assert measured["new"] == 6
    assert measured["documents_per_s"] > 0
    arms = {each["arm"]: each for each in measured["arms"]}
    assert {"BM25 only", "RRF", "min-max", "+ parent prior", "+ following prior"} <= set(arms)
    last = measured["arms"][-1]
    assert last["arm"].endswith("(default)")
    assert last["recall_at_5"] == 1.0
    assert last["p95_ms"] >= last["p50_ms"] > 0
    assert {name: each["questions"] for name, each in last["categories"].items()} == {"1": 1, "4": 2}


def test_what_is_there_already_is_not_counted_as_fast(folder: Path, tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "data"), "--json")
    first, again = (json.loads(run(str(folder), *where).stdout)["sets"][0] for _ in range(2))
    assert (first["new"], again["new"], again["documents_per_s"]) == (6, 0, 0)
    assert again["arms"][0]["recall_at_5"] == first["arms"][0]["recall_at_5"]


def test_people_get_a_table_and_a_broken_folder_is_named(folder: Path, tmp_path: Path) -> None:
    done = run(str(folder))
    assert done.returncode == 0, done.stderr
    assert "nDCG@10" in done.stdout
    assert "category 4" in done.stdout
    assert "documents/s" in done.stdout
    broken = run(str(tmp_path))
    assert broken.returncode == 2
    assert "qrels.tsv" in broken.stderr
