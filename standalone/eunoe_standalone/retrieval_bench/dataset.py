"""A BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv` (Thakur et al., "BEIR", NeurIPS 2021)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import InvalidField

CONTAINER = "bench"
COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Text:
    """One document. Of a conversation, `metadata` holds session, date, speaker and position of the turn."""

    name: str
    title: str
    text: str
    container: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One query with its relevant documents: grade by name, all above zero. No container means all containers."""

    name: str
    text: str
    container: str
    category: str
    relevant: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The documents of a folder, and the questions that have a relevant document."""

    name: str
    texts: Sequence[Text]
    questions: Sequence[Question]


def read_dataset(folder: Path) -> Dataset:
    """Read a folder. Raises `InvalidField` naming the file, and the line that is wrong."""
    relevant = _relevant(folder / "qrels.tsv")
    texts = [_text(path_line, row) for path_line, row in _rows(folder / "corpus.jsonl")]
    questions = [
        _question(path_line, row, relevant[row["_id"]]) for path_line, row in _rows(folder / "queries.jsonl") if row["_id"] in relevant
    ]
    if not texts or not questions:
        raise InvalidField(f"{folder}: no documents, or no questions with a relevant document")
    return Dataset(folder.resolve().name, texts, questions)


def _text(where: str, row: Mapping[str, Any]) -> Text:
    metadata = dict(_metadata(where, row))
    title = _string(where, row, "title")
    if title:
        metadata.setdefault("title", title)
    container = str(metadata.pop("container", "") or CONTAINER)
    return Text(row["_id"], title, _string(where, row, "text"), container, metadata)


def _question(where: str, row: Mapping[str, Any], relevant: Mapping[str, int]) -> Question:
    metadata = _metadata(where, row)
    category = metadata.get("category")
    container = str(metadata.get("container") or "")
    return Question(row["_id"], _string(where, row, "text"), container, "" if category is None else str(category), relevant)


def _relevant(path: Path) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), start=1):
        columns = line.split("\t")
        if number == 1 and len(columns) == COLUMNS and not columns[2].strip().lstrip("-").isdigit():
            continue  # the header
        try:
            query, text, grade = columns[0], columns[1], int(columns[2])
        except (IndexError, ValueError):
            raise InvalidField(f"{path}, line {number}: query-id, corpus-id and a whole score are expected, with tabs") from None
        if grade > 0:
            found.setdefault(query, {})[text] = grade
    return found


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(_lines(path), start=1):
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError:
            raise InvalidField(f"{where}: not JSON") from None
        if not isinstance(row, dict) or not isinstance(row.get("_id"), str) or not row["_id"]:
            raise InvalidField(f"{where}: an object with a string `_id` is expected")
        yield where, row


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from (line.rstrip("\r\n") for line in file if line.strip())
    except OSError as error:
        raise InvalidField(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidField(f"{path}: not UTF-8") from None


def _metadata(where: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InvalidField(f"{where}: `metadata` must be an object")
    return metadata


def _string(where: str, row: Mapping[str, Any], name: str) -> str:
    value = row.get(name) or ""
    if not isinstance(value, str):
        raise InvalidField(f"{where}: `{name}` must be a string")
    return value
