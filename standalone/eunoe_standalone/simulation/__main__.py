"""`python -m eunoe_standalone.simulation --seeds N [--first M]`: run seeds in two processes; ends with 1 when one fails."""

from __future__ import annotations

import argparse
import sys
import time

from eunoe_standalone.simulation.run import run_seeds
from eunoe_standalone.simulation.seed import how_to_run


def main() -> int:
    """Run and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    started = time.monotonic()
    failed = 0
    for each in run_seeds(range(asked.first, asked.first + asked.seeds), processes=asked.processes):
        if each.problem:
            failed += 1
            sys.stdout.write(f"{how_to_run(each)}\n")
            sys.stdout.flush()
    seconds = time.monotonic() - started
    sys.stdout.write(f"{asked.seeds} seeds in {seconds:.0f} s ({asked.seeds / seconds:.1f} a second), {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
