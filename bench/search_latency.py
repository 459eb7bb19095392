"""How long does a hybrid search take over 500 turns and over 50,000 passages, idle and while others ingest at full rate?

A real `eunoe serve` with the default model. The 500 turns are ingested; the 50,000 passages have synthetic vectors and are written
through the stores' own methods. One client asks over gRPC, each query once, after a warm-up of other queries. "Under full ingest": a
process of its own keeps eight clients posting short texts.

    .venv/bin/python bench/search_latency.py [--quick] [--json] [--rounds N]
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from eunoe_standalone.testing import ServerProcess, serving
from filling import Texts, fill, turn_bodies
from load import Searches, full_ingest, ingest
from measure import Report, options, percentile, ratios

QUERIES = 200
TURNS = 500


def about_turns(count: int) -> list[str]:
    """Questions of three to seven words that stand together in one of the turns."""
    draw = random.Random(5)  # noqa: S311 - no secret
    words = [str(each["content"]).split() for each in turn_bodies(TURNS)]
    chosen = [(draw.choice(words), draw.randint(3, 7)) for _ in range(count)]
    starts = [draw.randrange(len(turn) - length) for turn, length in chosen]
    return [" ".join(turn[start : start + length]) for (turn, length), start in zip(chosen, starts, strict=True)]


def measured(server: ServerProcess, report: Report, name: str, rounds: int, questions: Sequence[str]) -> None:
    """Idle, then under ingest, in each round, after some that warm up; each question once."""
    searches, left = Searches(server.running), iter(questions)
    queries = len(questions) // (2 * rounds + 1)
    searches.times([*islice(left, queries)])
    idle, busy = [], []
    for _ in range(rounds):
        idle.append(searches.times([*islice(left, queries)]))
        with full_ingest(server.data_dir):
            busy.append(searches.times([*islice(left, queries)]))
    for state, times in (("idle", idle), ("under full ingest", busy)):
        for share in (0.5, 0.95):
            report.add(f"{name}, {state}, p{100 * share:.0f}", [percentile(each, share) for each in times], "ms")
    both = [[percentile(each, 0.95) for each in times] for times in (busy, idle)]
    report.add(f"{name}, p95 under full ingest to idle", ratios(*both))


def main() -> None:
    """Both sizes, each on a server of its own."""
    given = options(__doc__).parse_args()
    passages, queries = (2_000, 40) if given.quick else (50_000, QUERIES)
    count = queries * (2 * given.rounds + 1)
    report = Report("Hybrid search, default model, one client over gRPC")
    with tempfile.TemporaryDirectory() as folder:
        with serving(Path(folder) / "turns") as server:
            ingest(server.running, turn_bodies(TURNS), door="grpc")
            measured(server, report, f"{TURNS} turns", given.rounds, about_turns(count))
        fill(Path(folder) / "passages", passages)
        with serving(Path(folder) / "passages") as server:
            measured(server, report, f"{passages:,} passages", given.rounds, Texts().queries(count))
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()
