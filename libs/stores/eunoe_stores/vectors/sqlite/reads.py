"""What the reader threads do: load a tenant, load terms, audit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.sqlite.columns import Columns
from eunoe_stores.vectors.sqlite.entries import RECORD_COLUMNS
from eunoe_stores.vectors.sqlite.schema import row_range, term_prefix
from eunoe_stores.vectors.sqlite.writes import FLOAT_BYTES, STRUCTURE, chunks

FoundTerms: TypeAlias = Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Row ids and frequencies by term."""
ReadTerms: TypeAlias = Callable[[sqlite3.Connection, int, str, Sequence[str]], FoundTerms]
"""Of a tenant and a field."""
RARE = 2_000
"""Rows of a term that is read on the event loop, in a millisecond at most."""
_BLOCK = 500
_NONE = np.zeros(0, dtype=np.int64)
_AFTER_FREQUENCY = "\x7f"
"""The character after `~`."""


def tenant_number(driver: sqlite3.Connection, name: str) -> int | None:
    """The tenant's number if it ever had a row."""
    found = driver.execute("SELECT number FROM tenants WHERE name = ?", (name,)).fetchone()
    return None if found is None else int(found[0])


def load(driver: sqlite3.Connection, tenant: int) -> Columns:
    """All rows and vectors of a tenant, block by block: what is read at once is soon garbage that the memory has grown by."""
    columns = Columns()
    within = row_range(tenant)
    rows = int(driver.execute("SELECT count(*) FROM rows WHERE id >= ? AND id < ?", within).fetchone()[0])
    widest = driver.execute("SELECT length(vector) FROM vectors WHERE id >= ? AND id < ? LIMIT 1", within).fetchone()
    columns.reserve(rows, 0 if widest is None else int(widest[0]) // FLOAT_BYTES)
    found = driver.execute(f"SELECT {RECORD_COLUMNS} FROM rows WHERE id >= ? AND id < ? ORDER BY id", within)  # noqa: S608
    while records := found.fetchmany(_BLOCK):
        columns.append(records)
    vectors = driver.execute("SELECT id, vector FROM vectors WHERE id >= ? AND id < ? ORDER BY id", within)
    while block := vectors.fetchmany(_BLOCK):
        columns.set_vectors([number for number, _ in block], [vector for _, vector in block])
    last = driver.execute("SELECT last_row FROM tenants WHERE number = ?", (tenant,)).fetchone()
    columns.through = within[0] + int(last[0])
    return columns


def rare_terms(driver: sqlite3.Connection, tenant: int, field: str, terms: Sequence[str]) -> FoundTerms:
    """Those of the terms that at most `RARE` rows hold, looked up in a moment each."""
    found = {}
    prefix = term_prefix(field, tenant)
    statement = (
        "SELECT count(*), group_concat(doc), group_concat(substr(term, ?)) "
        "FROM (SELECT term, doc FROM terms WHERE term >= ? AND term < ? LIMIT ?)"
    )
    for term in terms:
        start = f"{prefix}{term}~"
        count, ids, frequencies = driver.execute(statement, (len(start) + 1, start, start[:-1] + _AFTER_FREQUENCY, RARE + 1)).fetchone()
        if count <= RARE:
            found[term] = (_numbers(ids), _numbers(frequencies))
    return found


def load_terms(driver: sqlite3.Connection, tenant: int, field: str, terms: Sequence[str]) -> FoundTerms:
    """Row ids and frequencies of terms, from FTS5. SQLite puts the ids of one frequency into one text: fetched row by row they take
    four times as long, and each row lets the interpreter's lock go.
    """
    found = {}
    prefix = term_prefix(field, tenant)
    statement = "SELECT term, group_concat(doc) FROM terms WHERE term >= ? AND term < ? GROUP BY term"
    for term in terms:
        start = f"{prefix}{term}~"
        rows = driver.execute(statement, (start, start[:-1] + _AFTER_FREQUENCY)).fetchall()
        numbers = [_numbers(ids) for _, ids in rows]
        frequencies = [np.full(len(ids), int(token[len(start) :]), dtype=np.int64) for (token, _), ids in zip(rows, numbers, strict=True)]
        found[term] = (np.concatenate([_NONE, *numbers]), np.concatenate([_NONE, *frequencies]))
    return found


def findable(driver: sqlite3.Connection, tenant: int, keys: Sequence[bytes]) -> dict[bytes, bytes | None]:
    """Keys whose row is there and answers a search for its own first term; with the stored vector, if any."""
    found: dict[bytes, bytes | None] = {}
    for part in chunks(keys):
        marks = ", ".join("?" * len(part))
        statement = (
            "SELECT r.id, r.key, p.tokens, v.vector FROM rows r JOIN postings p ON p.rowid = r.id "  # noqa: S608 - only question marks
            f"LEFT JOIN vectors v ON v.id = r.id WHERE r.tenant = ? AND r.key IN ({marks})"
        )
        rows = driver.execute(statement, (tenant, *part)).fetchall()
        for number, key, tokens, vector in rows:
            first = tokens.partition(" ")[0]
            probe = "SELECT 1 FROM postings WHERE postings MATCH ? AND rowid = ?"
            if not first or driver.execute(probe, (f'"{first}"', number)).fetchone():
                found[key] = vector
    return found


def count(driver: sqlite3.Connection, tenant: int, document: bytes | None) -> int:
    """Number of rows."""
    if document is None:
        found = driver.execute("SELECT count(*) FROM rows WHERE tenant = ?", (tenant,))
    else:
        found = driver.execute("SELECT count(*) FROM rows WHERE tenant = ? AND document = ?", (tenant, document))
    return int(found.fetchone()[0])


def without_vectors(driver: sqlite3.Connection, tenant: int) -> int:
    """Number of rows without a vector."""
    statement = "SELECT count(*) FROM rows WHERE tenant = ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.id = rows.id)"
    return int(driver.execute(statement, (tenant,)).fetchone()[0])


def documents(driver: sqlite3.Connection, tenant: int) -> list[tuple[bytes, int]]:
    """(document, generation) of structure rows, ordered."""
    marks = ", ".join("?" * len(STRUCTURE))
    statement = f"SELECT DISTINCT document, generation FROM rows WHERE tenant = ? AND kind IN ({marks}) ORDER BY 1, 2"  # noqa: S608
    return driver.execute(statement, (tenant, *STRUCTURE)).fetchall()


def _numbers(listed: str | None) -> NDArray[np.int64]:
    return np.fromstring(listed or "", dtype=np.int64, sep=",")
