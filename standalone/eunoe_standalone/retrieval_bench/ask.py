"""Ask every question through the API."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from eunoe.v1 import search_pb2

from eunoe_standalone.client import CALL_TIMEOUT_S, Connection
from eunoe_standalone.retrieval_bench.arms import Arm
from eunoe_standalone.retrieval_bench.dataset import Question
from eunoe_standalone.retrieval_bench.metrics import DEPTHS, Answer

LIMIT = 2 * max(DEPTHS)
"""Hits asked for: several of them may be passages of one document, and the depths count documents."""


def ask(server: Connection, questions: Sequence[Question], names: Mapping[str, str], arm: Arm) -> list[Answer]:
    """One search at a time. Hits of documents outside the set (another ingest into the same containers) keep their places."""
    answers = []
    for question in questions:
        request = search_pb2.SearchRequest(
            query=question.text,
            containers=[question.container] if question.container else [],
            limit=LIMIT,
            mode=arm.mode,
            fusion=arm.fusion,
            ablate=arm.ablate,
        )
        started = time.monotonic()
        found = server.search.Search(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
        milliseconds = (time.monotonic() - started) * 1000
        ranked = list(dict.fromkeys(names.get(hit.document_id, hit.document_id) for hit in found.results))
        answers.append(Answer(ranked, question.relevant, question.category, milliseconds))
    return answers
