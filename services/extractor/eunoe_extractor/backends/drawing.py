"""DrawingML, the text, tables and charts of Open XML documents: text bodies become lists and paragraphs, charts tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.package import local
from eunoe_extractor.parsed import BlockKind

LONGEST_REPEATED = 200
BULLETS = frozenset({"buChar", "buAutoNum", "buBlip"})
DEEPEST_LEVEL = 8
MOST_SPARSE, SPARSE = 100_000, 8


def paragraph_text(paragraph: Any) -> str:
    """The text of one `a:p`, formulas included; line breaks as line feeds."""
    parts: list[str] = []
    for each in paragraph.iter():
        name = local(each)
        if name == "t":
            parts.append(each.text or "")
        elif name == "br":
            parts.append("\n")
    return "".join(parts)


def body_text(body: Any) -> str:
    """All paragraphs of a text body in one line."""
    return " ".join(" ".join(paragraph_text(each).split()) for each in body.iter() if local(each) == "p").strip()


def add_body(blocks: DataBlocks, body: Any, *, listed: bool = False) -> None:
    """Add the paragraphs of a text body. `listed` says that they are items even where nothing at the paragraph says so."""
    paragraphs = [(each, paragraph_text(each)) for each in body if local(each) == "p"]
    paragraphs = [(each, text) for each, text in paragraphs if text.strip()]
    items: list[str] = []
    numbers: dict[int, int] = {}
    listed = listed and len(paragraphs) > 1
    for paragraph, text in paragraphs:
        level, mark = _bullet(paragraph, listed=listed)
        numbers = {key: value for key, value in numbers.items() if key < level or (key == level and mark == "1.")}
        if not mark:
            _flush(blocks, items)
            blocks.add(BlockKind.PARAGRAPH, text.strip())
            continue
        if mark == "1.":
            numbers[level] = numbers.get(level, 0) + 1
            mark = f"{numbers[level]}."
        indent = "  " * level
        items.append(f"{indent}{mark} " + text.strip().replace("\n", f"\n{indent}  "))
    _flush(blocks, items)


def _flush(blocks: DataBlocks, items: list[str]) -> None:
    blocks.add(BlockKind.LIST, "\n".join(items))
    items.clear()


def _bullet(paragraph: Any, *, listed: bool) -> tuple[int, str]:
    """Level and mark of an item; the mark is "" for a plain paragraph."""
    properties = next((each for each in paragraph if local(each) == "pPr"), None)
    given = "" if properties is None else properties.get("lvl") or ""
    level = min(int(given), DEEPEST_LEVEL) if given.isascii() and given.isdecimal() else 0
    names = set() if properties is None else {local(each) for each in properties}
    if "buAutoNum" in names:
        return level, "1."
    if "buNone" in names:
        return level, ""
    return level, "-" if names & BULLETS or listed or level else ""


def table_rows(table: Any) -> list[list[str]]:
    """The cells of an `a:tbl`. A cell over several columns stands in the first of them, one over several rows in each row."""
    rows: list[list[str]] = []
    for row in (each for each in table if local(each) == "tr"):
        line: list[str] = []
        for column, cell in enumerate(each for each in row if local(each) == "tc"):
            text = body_text(cell)
            above = rows[-1][column] if rows and column < len(rows[-1]) else ""
            repeats = cell.get("vMerge") in {"1", "true"} and len(above) <= LONGEST_REPEATED
            line.append(text or (above if repeats else ""))
        rows.append(line)
    return rows


def add_chart(blocks: DataBlocks, chart: Any) -> None:
    """Add the titles of a chart, then its stored values: a table with a row per category and a column per series.

    Every stored text and value comes out, of kinds of charts that are not known too.
    """
    for each in chart.iter():
        if local(each) == "p":
            blocks.add(BlockKind.PARAGRAPH, " ".join(paragraph_text(each).split()))
    series = [each for each in chart.iter() if local(each) == "ser"]
    if not series:
        blocks.lines(BlockKind.PARAGRAPH, (each.text or "" for each in chart.iter() if local(each) in {"v", "pt"} and each.text))
        return
    tables: list[tuple[dict[str, str], list[tuple[str, dict[str, str]]]]] = []
    for each in series:
        categories, columns = _series(each)
        if not tables or (categories and categories != tables[-1][0]):
            tables.append((categories, []))
        tables[-1][1].extend(columns)
    for categories, columns in tables:
        _chart_table(blocks, categories, columns)


def _series(series: Any) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]]]:
    """Categories by their index, and columns of values by name; a bubble has two of them."""
    categories: dict[str, str] = {}
    columns: list[tuple[str, dict[str, str]]] = []
    name = ""
    for part in series:
        kind = local(part)
        if kind == "tx":
            name = " ".join(each.text or "" for each in part.iter() if local(each) == "v")
        elif kind in {"cat", "xVal"}:
            categories = _points(part)
        elif kind in {"val", "yVal", "bubbleSize"}:
            columns.append((name, _points(part)))
    return categories, columns


def _points(part: Any) -> dict[str, str]:
    """Values by index. Labels of several levels are joined, the innermost last."""
    found: dict[str, list[str]] = {}
    for point in (each for each in part.iter() if local(each) == "pt"):
        text = " ".join(each.text or "" for each in point.iter() if local(each) == "v")
        found.setdefault(point.get("idx") or "", []).append(text)
    return {index: " ".join(reversed(texts)) for index, texts in found.items()}


def _chart_table(blocks: DataBlocks, categories: dict[str, str], columns: list[tuple[str, dict[str, str]]]) -> None:
    indexes = list(dict.fromkeys([*categories, *(index for _, values in columns for index in values)]))
    given = len(categories) + sum(len(values) for _, values in columns)
    if len(columns) > 1 and len(indexes) * len(columns) > MOST_SPARSE + SPARSE * given:
        for each in columns:
            _chart_table(blocks, {index: categories[index] for index in each[1] if index in categories}, [each])
        return
    blocks.long_table(["", *(name for name, _ in columns)], _chart_rows(indexes, categories, columns))


def _chart_rows(indexes: list[str], categories: dict[str, str], columns: list[tuple[str, dict[str, str]]]) -> Iterator[list[str]]:
    for index in indexes:
        yield [categories.get(index, ""), *(values.get(index, "") for _, values in columns)]
