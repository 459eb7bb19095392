"""What the writer thread does: each function runs in one transaction and says what it changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import ModelMismatch

from eunoe_stores.vectors.sqlite.entries import RECORD_COLUMNS, Entry
from eunoe_stores.vectors.sqlite.schema import TENANT_SHIFT, setting, store_setting

_PARAMETERS = 500
STRUCTURE = tuple(sorted(kind.value for kind in STRUCTURE_KINDS))
FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Change:
    """What a committed transaction did to a tenant: first removed ids, then added rows, then flags."""

    removed: Sequence[int] = ()
    added: Sequence[tuple[int, Entry]] = field(default=())
    flagged: Sequence[int] = ()
    is_latest: bool = True


def tenant_number(driver: sqlite3.Connection, name: str) -> int:
    """The tenant's number, given now when it is new."""
    driver.execute("INSERT OR IGNORE INTO tenants (name) VALUES (?)", (name,))
    return int(driver.execute("SELECT number FROM tenants WHERE name = ?", (name,)).fetchone()[0])


def upsert(driver: sqlite3.Connection, tenant: int, entries: Sequence[Entry]) -> Change:
    """Replace rows of the same keys. A replaced row gets a new id: ids only grow, and postings are never changed in place."""
    _check_dimensions(driver, entries)
    removed = _remove(driver, (number for number, _ in _found(driver, tenant, [each.key for each in entries])))
    last = int(driver.execute("SELECT last_row FROM tenants WHERE number = ?", (tenant,)).fetchone()[0])
    added = [((tenant << TENANT_SHIFT) + last + count, each) for count, each in enumerate(entries, 1)]
    driver.execute("UPDATE tenants SET last_row = ? WHERE number = ?", (last + len(entries), tenant))
    driver.executemany(
        f"INSERT INTO rows (tenant, {RECORD_COLUMNS}) VALUES ({tenant}, {_marks(RECORD_COLUMNS.split(','))})",  # noqa: S608 - an int
        [each.record(number) for number, each in added],
    )
    driver.executemany("INSERT INTO postings (rowid, tokens) VALUES (?, ?)", [(number, each.tokens) for number, each in added])
    driver.executemany("INSERT INTO vectors VALUES (?, ?)", [(number, each.vector) for number, each in added if each.vector is not None])
    return Change(removed=removed, added=added)


def delete_document(driver: sqlite3.Connection, tenant: int, document: bytes, through_generation: int) -> Change:
    """Remove structure rows of that and older generations."""
    found = driver.execute(
        f"SELECT id FROM rows WHERE tenant = ? AND document = ? AND generation <= ? AND kind IN ({_marks(STRUCTURE)})",  # noqa: S608
        (tenant, document, through_generation, *STRUCTURE),
    )
    return Change(removed=_remove(driver, [each[0] for each in found]))


def delete_rows(driver: sqlite3.Connection, tenant: int, keys: Sequence[bytes]) -> Change:
    """Remove rows by key."""
    return Change(removed=_remove(driver, [number for number, _ in _found(driver, tenant, keys)]))


def set_latest(driver: sqlite3.Connection, tenant: int, keys: Sequence[bytes], *, is_latest: bool) -> Change:
    """Set the flag of rows."""
    numbers = [number for number, _ in _found(driver, tenant, keys)]
    driver.executemany("UPDATE rows SET latest = ? WHERE id = ?", [(int(is_latest), number) for number in numbers])
    return Change(flagged=numbers, is_latest=is_latest)


def bind_model(driver: sqlite3.Connection, model_id: str, dimensions: int) -> None:
    """Store the model. Raises `ModelMismatch` while there are vectors of another one."""
    stored = (setting(driver, "model"), setting(driver, "dimensions"))
    if stored == (model_id, str(dimensions)):
        return
    same_or_unnamed = stored[0] in {None, model_id} and stored[1] in {None, str(dimensions)}
    if not same_or_unnamed and driver.execute("SELECT 1 FROM vectors LIMIT 1").fetchone():
        raise ModelMismatch
    store_setting(driver, "model", model_id)
    store_setting(driver, "dimensions", str(dimensions))


def merge_postings(driver: sqlite3.Connection) -> None:
    """Write the postings anew in one segment: only then are those of removed rows gone (https://sqlite.org/fts5.html)."""
    driver.execute("INSERT INTO postings(postings) VALUES ('optimize')")


def chunks(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Parts that fit a statement's parameters."""
    return (values[start : start + _PARAMETERS] for start in range(0, len(values), _PARAMETERS))


def _found(driver: sqlite3.Connection, tenant: int, keys: Sequence[bytes]) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    for part in chunks(keys):
        # Filled up to a power of two, so that a few prepared statements serve all numbers of keys.
        wanted = [*part, *[part[-1]] * ((1 << (len(part) - 1).bit_length()) - len(part))]
        statement = f"SELECT id, key FROM rows WHERE tenant = ? AND key IN ({_marks(wanted)})"  # noqa: S608 - only question marks
        found += driver.execute(statement, (tenant, *wanted)).fetchall()
    return found


def _remove(driver: sqlite3.Connection, numbers: Iterable[int]) -> list[int]:
    gone = sorted(set(numbers))
    for table, column in (("postings", "rowid"), ("vectors", "id"), ("rows", "id")):
        if gone:
            driver.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in gone])  # noqa: S608 - fixed names
    return gone


def _check_dimensions(driver: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    given = {len(each.vector) // FLOAT_BYTES for each in entries if each.vector is not None}
    if not given:
        return
    stored = setting(driver, "dimensions")
    if stored is None and len(given) == 1:
        store_setting(driver, "dimensions", str(given.pop()))
    elif given != {int(stored or 0)}:
        raise ModelMismatch


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
