"""Gives the space of removed rows back to the disk, bit by bit; SQLite would only keep it for rows to come.

See https://sqlite.org/pragma.html#pragma_auto_vacuum. A file is made ready for it once, while it is small, by writing it anew.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

INCREMENTAL = 2
SMALL_PAGES = 2_500
"""A file of up to 10 MB is written anew in a moment; a larger one of an earlier version stays as it is until it is rebuilt."""
SPARE_PAGES = 64
SPARE_SHARE = 0.2
"""Free pages that stay for the next rows: a quarter of a megabyte, or a fifth of the file."""
AT_ONCE = 200
"""Pages given back in one transaction, so that nobody waits long for it."""


def make_ready(path: Path) -> None:
    """Let the file give space back from now on. Does nothing for a large file, nor while somebody writes; may be called twice."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        mode = int(connection.execute("PRAGMA auto_vacuum").fetchone()[0])
        pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
        if mode != INCREMENTAL and pages <= SMALL_PAGES:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
            try:
                connection.execute("VACUUM")
            except sqlite3.OperationalError:
                return  # somebody writes, or there is no space for a copy: the next start tries again


def give_back(driver: sqlite3.Connection) -> int:
    """Within a transaction: shorten the file when much of it is free. Returns by how many pages, so that it can be called again."""
    free = int(driver.execute("PRAGMA freelist_count").fetchone()[0])
    if free <= SPARE_PAGES or int(driver.execute("PRAGMA auto_vacuum").fetchone()[0]) != INCREMENTAL:
        return 0
    before = int(driver.execute("PRAGMA page_count").fetchone()[0])
    for _ in range(min(AT_ONCE, free - max(SPARE_PAGES, int(SPARE_SHARE * before)))):
        driver.execute("PRAGMA incremental_vacuum(1)")  # of a larger number Python's driver would run the first step only
    return before - int(driver.execute("PRAGMA page_count").fetchone()[0])
