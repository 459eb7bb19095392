"""What every measurement here shares: repeated rounds, medians with their spread, the machine and its load, one way to print."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def ratios(upper: Sequence[float], lower: Sequence[float]) -> list[float]:
    """Round by round: what hit one of the two hit the other as well."""
    return [a / b for a, b in zip(upper, lower, strict=True)]


def facts() -> dict[str, Any]:
    """The machine, and who else uses it."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


@dataclass(slots=True)
class Report:
    """Figures of one question, in the order in which they were added: name, unit, and one value per round."""

    question: str
    rows: list[tuple[str, str, list[float]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    started: dict[str, Any] = field(default_factory=facts)

    def add(self, name: str, values: Sequence[float] | float, unit: str = "") -> float:
        """Keep the values; returns their median."""
        kept = [float(values)] if isinstance(values, int | float) else [float(each) for each in values]
        self.rows.append((name, unit, kept))
        return statistics.median(kept)

    def print(self, *, as_json: bool) -> None:
        """A table for people, or one JSON object."""
        if as_json:
            figures = {
                name: {"median": statistics.median(values), "low": min(values), "high": max(values), "unit": unit, "rounds": len(values)}
                for name, unit, values in self.rows
            }
            print(json.dumps({"question": self.question, **self.started, "figures": figures, "notes": self.notes}, indent=2))
            return
        at_end = os.getloadavg()[0]
        facts_line = ", ".join(f"{name} {value}" for name, value in self.started.items())
        print(f"{self.question}\n  {facts_line} at start, {at_end:.2f} at the end")
        for name, unit, values in self.rows:
            spread = f"({_short(min(values))} to {_short(max(values))}, {len(values)} rounds)" if len(values) > 1 else ""
            print(f"  {name:58} {_short(statistics.median(values)):>10} {unit:10} {spread}")
        for note in self.notes:
            print(f"  {note}")


def options(doc: str | None, *, rounds: int = 3) -> argparse.ArgumentParser:
    """The options of every measurement: `--json`, `--quick`, `--rounds`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, the figures say little")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"repetitions (default {rounds})")
    return parser


def _short(value: float) -> str:
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 10 else f"{value:.3g}"  # noqa: PLR2004 - digits that matter
