"""The result of a measurement, for scripts and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eunoe_standalone.retrieval_bench.metrics import DEPTHS, NDCG_DEPTH, Answer, Quality, by_category, percentile, quality

COLUMNS = ("set", "arm", "questions", f"nDCG@{NDCG_DEPTH}", *(f"R@{depth}" for depth in DEPTHS), "p50 ms", "p95 ms")


@dataclass(frozen=True, slots=True)
class Measured:
    """One set: its answers by arm, in the order of the arms, and how many of its documents were new in `seconds`."""

    name: str
    answers: Mapping[str, Sequence[Answer]]
    documents: int
    failed: int
    new: int
    seconds: float

    @property
    def documents_per_s(self) -> float:
        """Sent to searchable, of those that were not there before; 0 when all were."""
        return self.new / self.seconds if self.seconds else 0.0


def together(sets: Sequence[Measured]) -> Measured:
    """All questions of several sets as one."""
    answers = {arm: [answer for each in sets for answer in each.answers[arm]] for arm in sets[0].answers}
    documents, failed, new = (sum(getattr(each, name) for each in sets) for name in ("documents", "failed", "new"))
    return Measured("all", answers, documents, failed, new, sum(each.seconds for each in sets))


def as_dict(measured: Measured) -> dict[str, Any]:
    """For `--json`: shares from 0 to 1, milliseconds, documents per second."""
    return {
        "set": measured.name,
        "documents": measured.documents,
        "failed": measured.failed,
        "new": measured.new,
        "documents_per_s": round(measured.documents_per_s, 2),
        "arms": [
            {
                "arm": arm,
                **_shares(quality(answers)),
                "p50_ms": round(percentile([each.milliseconds for each in answers], 0.5), 2),
                "p95_ms": round(percentile([each.milliseconds for each in answers], 0.95), 2),
                "categories": {name: _shares(each) for name, each in by_category(answers).items()},
            }
            for arm, answers in measured.answers.items()
        ],
    }


def rows(measured: Measured) -> list[list[str]]:
    """For the table: a line per arm, and below the last one a line per category."""
    lines = []
    for arm, answers in measured.answers.items():
        times = [each.milliseconds for each in answers]
        lines.append([measured.name, arm, *_cells(quality(answers)), f"{percentile(times, 0.5):.1f}", f"{percentile(times, 0.95):.1f}"])
    last = list(measured.answers.values())[-1]
    lines += [[measured.name, f"  category {name}", *_cells(each), "", ""] for name, each in by_category(last).items()]
    return lines


def _shares(mean: Quality) -> dict[str, Any]:
    recalls = {f"recall_at_{depth}": round(value, 4) for depth, value in mean.recall.items()}
    return {"questions": mean.questions, f"ndcg_at_{NDCG_DEPTH}": round(mean.ndcg, 4), **recalls}


def _cells(mean: Quality) -> list[str]:
    return [str(mean.questions), f"{mean.ndcg:.3f}", *(f"{value:.3f}" for value in mean.recall.values())]
