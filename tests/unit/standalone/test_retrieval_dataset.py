"""Reading BEIR folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from eunoe_contracts.errors import InvalidField
from eunoe_standalone.retrieval_bench.arms import arms
from eunoe_standalone.retrieval_bench.dataset import CONTAINER, read_dataset

CORPUS = """{"_id": "d1", "title": "Weir", "text": "A low dam."}
{"_id": "d2", "title": "", "text": "Hello.", "metadata": {"container": "talk", "session": "s", "position": 0}}
"""
QUERIES = (
    '{"_id": "q1", "text": "What is a weir?"}\n{"_id": "q2", "text": "Who greets?", "metadata": {"container": "talk", "category": 4}}\n'
)
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td2\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    return tmp_path


def test_everything_is_read(folder: Path) -> None:
    read = read_dataset(folder)
    assert [(each.name, each.container, dict(each.metadata)) for each in read.texts] == [
        ("d1", CONTAINER, {"title": "Weir"}),
        ("d2", "talk", {"session": "s", "position": 0}),
    ]
    assert [(each.name, each.container, each.category, dict(each.relevant)) for each in read.questions] == [
        ("q1", "", "", {"d1": 2}),
        ("q2", "talk", "4", {"d2": 1}),
    ]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("corpus.jsonl", "{nope", "corpus.jsonl, line 1: not JSON"),
        ("corpus.jsonl", '{"text": "no id"}', "line 1"),
        ("qrels.tsv", "q1\td1\t1\nq1 d1 1\n", "qrels.tsv, line 2"),
        ("queries.jsonl", "", "no questions"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, name: str, content: str, told: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(InvalidField, match=told):
        read_dataset(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "qrels.tsv").unlink()
    with pytest.raises(InvalidField, match=r"qrels\.tsv"):
        read_dataset(folder)


def test_the_last_arm_is_the_default_and_each_step_leaves_out_one_less() -> None:
    ladder = arms(ablate=True)
    assert [each.name for each in arms(ablate=False)] == ["default"]
    assert ladder[-1].name.endswith("(default)")
    assert not ladder[-1].ablate
    steps = [len(each.ablate) for each in ladder if not each.mode and not each.fusion]
    assert steps == sorted(steps, reverse=True)
