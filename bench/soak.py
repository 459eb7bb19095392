"""Does memory grow while the server ingests, searches and erases for a long time, and does the index keep to its live data?

A real `eunoe serve` with the default model. Each cycle posts short texts, searches, and deletes the texts of the cycle before, so that
the live data stay the same. Memory is the resident set of the server's process. Growth compares the mean of the last quarter with that
of the second quarter (the first warms caches up). At the end the index file is compared with a compact copy of the same
live data (FTS5 merged, `VACUUM`).

    .venv/bin/python bench/soak.py [--minutes 20] [--quick] [--json]
"""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil
from eunoe.v1 import ingest_pb2
from eunoe_standalone.client import connect
from eunoe_standalone.testing import serving
from filling import Texts, turn_bodies
from load import Searches, ingest
from measure import Report, options

BATCH = 200
QUERIES = 40
MB = 1024 * 1024
SETTLE_S = 3.0


def resident(pid: int) -> float:
    """Megabytes of the server's process, its parser processes left out."""
    return float(psutil.Process(pid).memory_info().rss) / MB


def own(pid: int) -> float:
    """Megabytes of it that are the process's own, and no mapped files, such as the pages of eunoe.db that it reads."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def compact_size(index: Path, folder: Path) -> int:
    """Bytes of a compact copy of the index."""
    copy = folder / "copy.db"
    with closing(sqlite3.connect(index)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
        target.execute("INSERT INTO postings(postings) VALUES ('optimize')")
        target.commit()
        target.execute("VACUUM")
    return copy.stat().st_size


def delete_all(data_dir: Path, ids: list[str]) -> None:
    """Erase documents."""
    with connect(data_dir) as server:
        for each in ids:
            server.ingest.DeleteDocument(ingest_pb2.DeleteDocumentRequest(id=each), metadata=server.metadata)


def main() -> None:
    """Soak and compare."""
    parser = options(__doc__, rounds=1)
    parser.add_argument("--minutes", type=float, default=20)
    given = parser.parse_args()
    minutes = 0.5 if given.quick else given.minutes
    report = Report(f"{minutes:g} minutes of ingest, search and erasure")
    samples: list[float] = []
    owned: list[float] = []
    posted = 0
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with serving(data_dir) as server:
            time.sleep(SETTLE_S)
            report.add("idle, nothing stored", resident(server.running.pid), "MB")
            searches, texts, end, before = Searches(server.running), Texts(), time.monotonic() + 60 * minutes, list[str]()
            while time.monotonic() < end:
                added = ingest(server.running, turn_bodies(BATCH, seed=posted), door="grpc")
                posted += BATCH
                searches.times(texts.queries(QUERIES))
                delete_all(data_dir, before)
                before = added.ids
                samples.append(resident(server.running.pid))
                owned.append(own(server.running.pid))
            report.add("documents ingested", posted)
        quarter = max(1, len(samples) // 4)
        for name, each in (("resident", samples), ("of it without mapped files", owned)):
            early, late = each[quarter : 2 * quarter] or each, each[-quarter:]
            report.add(f"{name}, second quarter", early, "MB")
            report.add(f"{name}, last quarter", late, "MB")
            report.add(f"{name}, growth", 100 * (statistics.fmean(late) / statistics.fmean(early) - 1), "%")
        with closing(sqlite3.connect(data_dir / "index.db")) as index:
            index.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        report.add(
            "index.db to a compact copy of its live data",
            (data_dir / "index.db").stat().st_size / compact_size(data_dir / "index.db", Path(folder)),
        )
        shutil.rmtree(data_dir)
    report.print(as_json=given.json)


if __name__ == "__main__":
    main()
