"""Many seeds in several processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from unittest.mock import patch

from eunoe_standalone.simulation.seed import Outcome, simulate

CHUNK = 5


def run_seeds(seeds: Iterable[int], *, processes: int = 2) -> Iterator[Outcome]:
    """Outcomes in the order of the seeds, as they come. The processes are fresh ones with one hash seed, so that each run does the same."""
    with patch.dict(os.environ, {"PYTHONHASHSEED": "0"}):
        pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
        with pool:
            yield from pool.map(simulate, seeds, chunksize=CHUNK)
