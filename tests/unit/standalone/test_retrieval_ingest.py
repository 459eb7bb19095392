"""The order in which the retrieval measurement sends its texts."""

from __future__ import annotations

from typing import Any

from eunoe_standalone.retrieval_bench.dataset import Text
from eunoe_standalone.retrieval_bench.ingest import in_sessions


def text(name: str, container: str = "c", **metadata: Any) -> Text:
    return Text(name, "", "words", container, metadata)


def test_turns_of_a_session_stay_together_and_in_order() -> None:
    texts = [
        text("a0", session="a", position=0),
        text("b0", session="b", position=0),
        text("plain"),
        text("a1", session="a", position=1),
        text("other", container="d", session="a", position=0),
        text("b", session=""),
    ]
    assert [[each.name for each in turns] for turns in in_sessions(texts)] == [["a0", "a1"], ["b0"], ["plain"], ["other"], ["b"]]
