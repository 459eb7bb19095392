"""Tables of an HTML tree: data tables become rows, layout tables become plain boxes."""

from __future__ import annotations

from typing import Any

import lxml.html

WIDEST_SPAN = 50
LARGEST_TABLE = 200_000
BLOCKS_INSIDE = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "article", "section")


def take_out_tables(tree: Any) -> list[list[list[str]]]:
    """Replace each data table by a paragraph with its number between U+E001 and U+E002; returns their rows. Changes `tree`.

    A table is data when it has two rows and two columns somewhere and holds no tables, headings or sections of its own. All others
    only place things on the page; they become `div`s, so that their text is read in order.
    """
    found: list[list[list[str]]] = []
    for table in list(tree.iter("table")):
        rows = [] if next(table.iterdescendants(*BLOCKS_INSIDE), None) is not None else _rows(table)
        if len(rows) > 1 and max(len(row) for row in rows) > 1:
            _replace(table, f"\ue001{len(found)}\ue002", _caption(table))
            found.append(rows)
        else:
            for each in table.iter("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"):
                each.tag = "div"
    return found


def _replace(table: Any, mark: str, caption: str) -> None:
    box = lxml.html.Element("div")
    for text in filter(None, (caption, mark)):
        paragraph = lxml.html.Element("p")
        paragraph.text = text
        box.append(paragraph)
    box.tail = table.tail
    parent = table.getparent()
    parent.replace(table, box)


def _caption(table: Any) -> str:
    return " ".join(_text(each) for each in table.iter("caption")).strip()


def _rows(table: Any) -> list[list[str]]:
    """Cells by row; a cell that spans columns stands in the first of them, one that spans rows in each row, as a reader sees it."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    cells = 0
    for row in table.iter("tr"):
        line: list[str] = []
        _hang(line, hanging)
        for cell in row.iterchildren("td", "th"):
            text, across, down = _text(cell), _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(len(line), len(line) + across):
                if down > 1:
                    hanging[column] = (down - 1, text if column == len(line) else "")
            line += [text, *[""] * (across - 1)]
            _hang(line, hanging)
        cells += len(line)
        if cells > LARGEST_TABLE:
            return []
        if line:
            rows.append(line)
    return rows


def _hang(line: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while len(line) in hanging:
        left, text = hanging.pop(len(line))
        if left > 1:
            hanging[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: Any, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return max(1, min(WIDEST_SPAN, int(value))) if value.isdecimal() else 1


def _text(cell: Any) -> str:
    """Text of a cell with its paragraphs, items and line breaks apart."""
    for each in cell.iter("p", "br", "li", "div", "dd", "dt"):
        each.tail = " " + (each.tail or "")
    return " ".join("".join(cell.itertext()).split())
