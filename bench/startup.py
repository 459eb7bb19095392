"""How long until `eunoe serve` is ready on 50,000 passages, and how long does `eunoe search` take against it, all in all?

Ready: the process is started, and then the file that commands find the server by is there (both doors listen before it is written).
The first search is the first of its server: the index is loaded then if it was not yet. Also the processor time that the same start
takes, which other load on the machine changes least.

    .venv/bin/python bench/startup.py [--quick] [--json] [--rounds N]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
from eunoe_standalone.testing import ServerProcess
from filling import Texts, fill
from measure import Report, options, seconds

EUNOE = str(Path(sys.executable).parent / "eunoe")


def searched(data_dir: Path, query: str) -> float:
    """Seconds of one `eunoe search`."""
    return seconds(lambda: subprocess.run([EUNOE, "search", query, "--data-dir", str(data_dir)], check=True, capture_output=True))


def processor_of_children() -> float:
    """Seconds of processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Fill, start, search."""
    given = options(__doc__, rounds=5).parse_args()
    passages = 2_000 if given.quick else 50_000
    report = Report(f"Start-up with {passages:,} passages")
    query = Texts().queries(1)[0]
    ready: list[float] = []
    busy: list[float] = []
    first: list[float] = []
    later: list[float] = []
    later_busy: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        fill(data_dir, passages)
        for _ in range(given.rounds):
            server = ServerProcess(data_dir)
            ready.append(seconds(server.start))
            times = psutil.Process(server.running.pid).cpu_times()
            busy.append(times.user + times.system)
            first.append(searched(data_dir, query))
            before = processor_of_children()
            later.append(searched(data_dir, query))
            later_busy.append(processor_of_children() - before)
            server.stop()
    report.add("eunoe serve ready", ready, "s")
    report.add("eunoe serve ready, processor time", busy, "s")
    report.add("eunoe search, the first of a server", first, "s")
    report.add("eunoe search, a later one", later, "s")
    report.add("eunoe search, processor time of the command", later_busy, "s")
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()
