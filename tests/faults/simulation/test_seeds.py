"""The promise under faults: 500 seeds of the simulation, and those that once found a defect. A seed that fails says how to run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from eunoe_standalone.simulation.run import run_seeds
from eunoe_standalone.simulation.seed import how_to_run, simulate

SEEDS = 500
AT_ONCE = 50
LISTED = Path(__file__).with_name("regression_seeds.txt").read_text(encoding="utf-8").splitlines()
REGRESSIONS = [int(line.split()[0]) for line in LISTED if line[:1].isdigit()]


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_the_promise_holds_under_faults(first: int) -> None:
    failed = [each for each in run_seeds(range(first, first + AT_ONCE), processes=1) if each.problem]
    assert not failed, "\n".join(how_to_run(each) for each in failed)


@pytest.mark.timeout(120)
def test_seeds_that_once_failed() -> None:
    failed = [each for each in run_seeds(REGRESSIONS) if each.problem]
    assert not failed, "\n".join(how_to_run(each) for each in failed)


def test_a_seed_does_the_same_again() -> None:
    assert simulate(3) == simulate(3)
