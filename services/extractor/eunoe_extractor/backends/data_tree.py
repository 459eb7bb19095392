"""Nested data as text: "key: value" lines for what is small, headings for what is large, tables for lists of like records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from eunoe_contracts.errors import BudgetExceeded

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.data_blocks import DEEPEST_HEADING, ROWS, DataBlocks
from eunoe_extractor.backends.data_records import LONGEST_PATH, NOTE, Pairs, is_line, joined, scalar, table
from eunoe_extractor.backends.text import paragraphs
from eunoe_extractor.parsed import BlockKind

ITEM = "\ue001"  # the key of an item that is one line
SMALL_LINES, SMALL_CHARS, SMALL_DEPTH = 40, 2000, 8
DEEPEST = 500


def add_value(blocks: DataBlocks, value: Any, level: int) -> None:
    """Add all keys and values below `value`; headings start at `level`. Raises `BudgetExceeded` for bottomless nesting."""
    if isinstance(value, Pairs) and level <= DEEPEST_HEADING:
        _add_pairs(blocks, value, level)
    elif isinstance(value, list) and not isinstance(value, Pairs) and level <= DEEPEST_HEADING:
        add_records(blocks, value, level)
    elif isinstance(value, list):
        blocks.lines(BlockKind.PARAGRAPH, flat_lines(value))
    else:
        for paragraph in paragraphs(scalar(value)):
            blocks.add(BlockKind.PARAGRAPH, paragraph)


def add_records(blocks: DataBlocks, values: Iterable[Any], level: int, *, name: str = "", first: int = 1) -> None:
    """Add the items of a list, taken a few hundred at a time: like records as a table, short texts as a list, others one by one.

    A large item has a heading of `name` and its number, counted from `first`.
    """
    items = iter(values)
    number = first
    is_table = False
    while part := list(islice(items, ROWS)):
        found = table(part, least=1 if is_table else 2)
        is_table = found is not None
        if found is not None:
            blocks.long_table(*found)
        elif all(is_line(each) for each in part):
            marked = (f"- {_text(each)}" for each in part)
            blocks.lines(BlockKind.LIST, (each for each in marked if each != "- "), most=100)
        else:
            _add_items(blocks, part, level, name, number)
        number += len(part)


def flat_lines(value: Any, prefix: str = "") -> Iterator[str]:
    """All leaves as "path: value" lines. Not recursive, and the path is cut at its outer end, so depth costs little."""
    stack = [(_entries(value), prefix)]
    while stack:
        entries, path = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
            continue
        key, each = entry
        if len(key) > LONGEST_PATH:  # a path is cut, its keys are not
            yield key
        inner = _within(path, key)
        if isinstance(each, list) and each and not is_line(each):
            if len(stack) >= DEEPEST:
                raise BudgetExceeded("the data are nested too deep")
            stack.append((_entries(each), inner))
            if not isinstance(each, Pairs) and is_line(each[0]):
                yield f"{inner}:"
        elif key == ITEM:
            yield f"- {_text(each)}"
        else:
            yield _line(inner, each) if key != NOTE else _note(each)


def _add_pairs(blocks: DataBlocks, pairs: Pairs, level: int) -> None:
    """Small values first, as lines; then each large one under a heading. Comments stay with the pair that they stand before."""
    lines: list[str] = []
    large: list[tuple[str, list[str], Any]] = []
    notes: list[str] = []
    for key, each in pairs:
        if key == NOTE:
            notes.append(_note(each))
        elif _is_small(key, each):
            lines += [*notes, *flat_lines(Pairs([(key, each)]))]
            notes = []
        else:
            large.append((clean(key), notes, each))
            notes = []
    if not large:
        lines += notes
        notes = []
    blocks.lines(BlockKind.PARAGRAPH, lines)
    for key, above, each in large:
        blocks.lines(BlockKind.PARAGRAPH, above)
        blocks.section(key, level)
        if isinstance(each, list) and not isinstance(each, Pairs) and level < DEEPEST_HEADING:
            add_records(blocks, each, level + 1, name=key)
        else:
            add_value(blocks, each, level + 1)
        blocks.close(level)
    blocks.lines(BlockKind.PARAGRAPH, notes)


def _add_items(blocks: DataBlocks, values: list[Any], level: int, name: str, first: int) -> None:
    """Small items follow each other with an empty line between; a large one has a heading."""
    small: list[str] = []
    for number, each in enumerate(values, first):
        if _is_small("", each):
            small.append("\n".join(flat_lines(each)) + "\n" if isinstance(each, list) else f"{scalar(each)}\n")
            continue
        blocks.lines(BlockKind.PARAGRAPH, small, most=20)
        small = []
        blocks.section(f"{name} {number}".strip(), level)
        add_value(blocks, each, level + 1)
        blocks.close(level)
    blocks.lines(BlockKind.PARAGRAPH, small, most=20)


def _is_small(key: str, value: Any) -> bool:
    left = [SMALL_LINES, SMALL_CHARS]
    return _fits(value, len(key), 0, left)


def _fits(value: Any, prefix: int, depth: int, left: list[int]) -> bool:
    """Count lines and characters down; looks at no more than fit."""
    if isinstance(value, list):
        if depth > SMALL_DEPTH or (not isinstance(value, Pairs) and table(value[:ROWS]) is not None):
            return False
        pairs = value if isinstance(value, Pairs) else (("", each) for each in value)
        left[0] -= 0 if value else 1
        return all(_fits(each, prefix + len(key) + 1, depth + 1, left) for key, each in pairs) and left[0] >= 0
    text = value if isinstance(value, str) else "false"
    left[0] -= 1
    left[1] -= prefix + len(text)
    return left[0] >= 0 and left[1] >= 0 and "\n\n" not in text


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Pairs):
        return ((clean(key), each) for key, each in value)
    return ((str(number) if isinstance(each, list) and not is_line(each) else ITEM, each) for number, each in enumerate(value, 1))


def _note(value: Any) -> str:
    return "\n".join(f"# {line}" for line in scalar(value).split("\n"))


def _within(path: str, key: str) -> str:
    path = f"{path}.{key}" if path and key else path or key
    return path if len(path) <= LONGEST_PATH else f"…{path[1 - LONGEST_PATH :]}"


def _line(path: str, value: Any) -> str:
    text = _text(value)
    return f"{path}: {text}" if path and text else f"{path}:" if path else text


def _text(value: Any) -> str:
    return joined(value) if isinstance(value, list) else scalar(value)
