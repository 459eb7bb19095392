"""Run the suites of tests/budget.toml in order; fail on the first red one and on one that outruns its minutes."""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Entry point."""
    budget = tomllib.loads((ROOT / "tests" / "budget.toml").read_text(encoding="utf-8"))
    started, lines, failed = time.monotonic(), [], False
    for name, suite in budget["suite"].items():
        print(f"\n=== {name}: {suite['command']} (at most {suite['minutes']} min)", flush=True)
        begun = time.monotonic()
        code = subprocess.run(suite["command"].split(), cwd=ROOT, check=False).returncode
        minutes = (time.monotonic() - begun) / 60
        late = minutes > suite["minutes"]
        failed = bool(code) or late
        verdict = f"failed with {code}" if code else "over its budget" if late else "ok"
        lines.append(f"{name:10} {minutes:6.1f} of {suite['minutes']:4} min  {verdict}")
        if failed:
            break
    total = (time.monotonic() - started) / 60
    print("\n=== suites", *lines, f"total      {total:6.1f} of {budget['total']:4} min", sep="\n")
    return int(failed or total > budget["total"])


if __name__ == "__main__":
    sys.exit(main())
