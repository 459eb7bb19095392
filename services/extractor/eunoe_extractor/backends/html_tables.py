"""Tables and listings of an HTML tree: data tables become rows, layout tables plain boxes, `<pre>` text as it stands."""

from __future__ import annotations

from typing import Any

import lxml.html

TABLE_MARK, LISTING_MARK, END_MARK = "\ue001", "\ue003", "\ue002"
WIDEST_SPAN = 50
LARGEST_TABLE = 200_000
BLOCKS_INSIDE = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "article", "section")


def take_out_tables(tree: Any) -> list[list[list[str]]]:
    """Replace each data table by a paragraph with its number between `TABLE_MARK` and `END_MARK`; returns their rows. Changes `tree`.

    A table is data when it has two rows and two columns somewhere and holds no tables, headings or sections of its own. All others
    only place things on the page; they become `div`s, so that their text is read in order.
    """
    found: list[list[list[str]]] = []
    for table in list(tree.iter("table")):
        rows = [] if next(table.iterdescendants(*BLOCKS_INSIDE), None) is not None else _rows(table)
        if len(rows) > 1 and max(len(row) for row in rows) > 1:
            _replace(table, f"{TABLE_MARK}{len(found)}{END_MARK}", _caption(table))
            found.append(rows)
        else:
            for each in table.iter("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col"):
                each.tag = "div"
    return found


def take_out_listings(tree: Any) -> list[tuple[str, str]]:
    """Replace each `<pre>` by a paragraph with its number; returns their texts and languages, as far as a class names one."""
    found: list[tuple[str, str]] = []
    for listing in list(tree.iter("pre")):
        if next(listing.iterancestors("pre"), None) is not None or listing.getparent() is None:
            continue
        for each in listing.iter("br"):
            each.tail = "\n" + (each.tail or "")
        classes = " ".join(each.get("class") or "" for each in (listing, *listing.iterchildren("code"))).split()
        language = next((each.partition("-")[2] for each in classes if each.startswith(("language-", "lang-"))), "")
        _replace(listing, f"{LISTING_MARK}{len(found)}{END_MARK}", "")
        found.append(("".join(listing.itertext()).strip("\n"), language))
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
        each.text = " " + (each.text or "")
        each.tail = " " + (each.tail or "")
    return " ".join("".join(cell.itertext()).split())
