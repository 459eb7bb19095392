"""Running the catalogue's fixed statements without SQLAlchemy's cost per execution, which is several times that of SQLite itself.

The statement is compiled once by SQLAlchemy's SQLite dialect, then sent to the driver with the values that the column types make.
On every other database, and for whatever is not a fixed statement, `Connection.execute` does the same.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Connection, Dialect, Insert, Select, Uuid
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from eunoe_stores.sqlite.connections import raw

Parameters = Mapping[str, Any]
Convert = Callable[[Any], Any]


class Rows:
    """The rows of a SELECT, all of them fetched: like those of a `CursorResult`, they are tuples whose fields have names too."""

    def __init__(self, rows: Sequence[Any], names: Sequence[str]) -> None:
        self._rows = rows
        self._names = names

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def all(self) -> Sequence[Any]:
        """Every row."""
        return self._rows

    def first(self) -> Any | None:
        """The first row, None when there is none."""
        return self._rows[0] if self._rows else None

    def scalars(self) -> list[Any]:
        """The first field of every row."""
        return [row[0] for row in self._rows]

    def scalar(self) -> Any | None:
        """The first field of the first row, None when there is none."""
        return self._rows[0][0] if self._rows else None

    def mapping(self) -> dict[str, Any] | None:
        """The first row as a mapping, None when there is none."""
        return dict(zip(self._names, self._rows[0], strict=True)) if self._rows else None

    def mappings(self) -> list[dict[str, Any]]:
        """Every row as a mapping."""
        return [dict(zip(self._names, row, strict=True)) for row in self._rows]


def fetch(connection: Connection, statement: Select[Any], parameters: Parameters) -> Rows:
    """Rows of a fixed SELECT. Lists for an expanding IN must not be empty."""
    if connection.dialect.name != "sqlite":
        result = connection.execute(statement, parameters)
        return Rows(result.all(), tuple(result.keys()))
    prepared = _prepared(connection.dialect, statement)
    sql, values = prepared.bound(parameters)
    return prepared.read(raw(connection).execute(sql, values).fetchall())


def apply(connection: Connection, statement: Executable, parameters: Parameters | Sequence[Parameters]) -> int:
    """Run a fixed INSERT, UPDATE or DELETE, for each of several parameter sets with the same names; returns the rows touched.

    Raises SQLAlchemy's `IntegrityError`.
    """
    if connection.dialect.name != "sqlite":
        result = connection.execute(statement, parameters)
        count = result.rowcount
        result.close()
        return count
    many = parameters if isinstance(parameters, Sequence) else (parameters,)
    prepared = _prepared(connection.dialect, statement, tuple(many[0]) if isinstance(statement, Insert) else ())
    bound = [prepared.bound(each) for each in many]
    driver = raw(connection)
    try:
        if len(bound) == 1:
            return driver.execute(*bound[0]).rowcount
        return driver.executemany(bound[0][0], [values for _, values in bound]).rowcount
    except sqlite3.IntegrityError as error:
        raise IntegrityError(bound[0][0], None, error) from error


def insert_numbered(connection: Connection, statement: Insert, parameters: Parameters) -> int:
    """Insert one row and return the number that the database gave it as its primary key. Raises SQLAlchemy's `IntegrityError`."""
    if connection.dialect.name != "sqlite":
        key = connection.execute(statement, parameters).inserted_primary_key
        assert key is not None  # noqa: S101 - an INSERT of one row always has one
        return int(key[0])
    apply(connection, statement, parameters)
    return int(raw(connection).execute("SELECT last_insert_rowid()").fetchone()[0])


class _Prepared:
    """One statement as the driver wants it."""

    def __init__(self, dialect: Dialect, statement: Executable, columns: Sequence[str]) -> None:
        self._compiled = cast("SQLCompiler", statement.compile(dialect=dialect, column_keys=list(columns) or None))  # type: ignore[attr-defined]  # every statement can be compiled
        binds = {name: each for each, name in self._compiled.bind_names.items()}
        self._constants = {name: each.effective_value for name, each in binds.items() if not each.required}
        self._convert = {name: _to_driver(each.type, dialect) for name, each in binds.items()}
        self._expanding = [name for name, each in binds.items() if each.expanding]
        self._expanded: dict[tuple[int, ...], tuple[str, list[tuple[str, int | None, Convert | None]]]] = {}
        self._names: tuple[str, ...] = ()
        self._row: Callable[[Any], Any] = tuple
        self._results: list[tuple[int, Convert]] = []
        if isinstance(statement, Select):
            selected = list(statement.selected_columns)
            # A sum or a maximum has no name; SQLAlchemy numbers it.
            self._names = tuple(getattr(each, "name", None) or f"field_{number}" for number, each in enumerate(selected))
            kind: Any = namedtuple("Row", list(self._names), rename=True)  # type: ignore[misc]  # noqa: PYI024 - known at run time only
            self._row = kind._make
            found = (_from_driver(each.type, dialect) for each in selected)
            self._results = [(number, convert) for number, convert in enumerate(found) if convert is not None]

    def bound(self, parameters: Parameters) -> tuple[str, list[Any]]:
        """The text and the values in its order."""
        given: dict[str, Any] = {**self._constants, **parameters}
        sizes = tuple([_padded(len(given[name])) for name in self._expanding])
        sql, slots = self._expanded.get(sizes) or self._expand(sizes)
        values = []
        for name, number, convert in slots:
            value = given[name]
            if number is not None:
                value = value[number] if number < len(value) else value[-1]
            values.append(value if convert is None else convert(value))
        return sql, values

    def read(self, fetched: list[tuple[Any, ...]]) -> Rows:
        """What the column types make of the driver's rows."""
        if not self._results:
            return Rows([self._row(each) for each in fetched], self._names)
        made = []
        for each in fetched:
            row = list(each)
            for number, convert in self._results:
                row[number] = convert(row[number])
            made.append(self._row(row))
        return Rows(made, self._names)

    def _expand(self, sizes: tuple[int, ...]) -> tuple[str, list[tuple[str, int | None, Convert | None]]]:
        samples = {name: [None] * size for name, size in zip(self._expanding, sizes, strict=True)}
        state = self._compiled.construct_expanded_state({**dict.fromkeys(self._convert), **self._constants, **samples})
        origin = {each: (name, number) for name, names in state.parameter_expansion.items() for number, each in enumerate(names)}
        slots: list[tuple[str, int | None, Convert | None]] = []
        for each in state.positiontup or ():
            name, number = origin.get(each, (each, None))
            slots.append((name, number, self._convert.get(name)))
        self._expanded[sizes] = state.statement, slots
        return self._expanded[sizes]


def _to_driver(kind: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _from_driver(kind: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return _uuid if isinstance(kind, Uuid) else kind.dialect_impl(dialect).result_processor(dialect, None)


@lru_cache(maxsize=16_384)
def _known_uuid(text: str) -> UUID:
    # Every stage of a document reads the same ids; making a UUID costs more than finding one.
    return UUID(text)


def _uuid(text: str | None) -> UUID | None:
    return None if text is None else _known_uuid(text)


def _padded(size: int) -> int:
    """The next power of two: a list is filled up with its last value, so that few texts serve lists of any length."""
    return 1 << max(size - 1, 0).bit_length()


_known: dict[tuple[Executable, tuple[str, ...]], _Prepared] = {}


def _prepared(dialect: Dialect, statement: Executable, columns: tuple[str, ...] = ()) -> _Prepared:
    found = _known.get((statement, columns))
    if found is None:
        found = _known[statement, columns] = _Prepared(dialect, statement, columns)
    return found
