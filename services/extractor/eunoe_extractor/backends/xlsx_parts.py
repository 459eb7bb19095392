"""Parts of a workbook around the cells: its sheets, their comments, text boxes and charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eunoe_contracts.errors import CorruptDocument

from eunoe_extractor.backends.drawing import add_body, add_chart
from eunoe_extractor.backends.package import Package, attribute, local
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.parsed import BlockKind

MAIN, BINARY = "xl/workbook.xml", "xl/workbook.bin"
STRICT = "purl.oclc.org/ooxml"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet in the order of the workbook. `is_grid`: it has cells; other sheets hold a chart or a dialog."""

    name: str
    part: str
    is_grid: bool
    hidden: bool


def sheets_of(package: Package) -> list[Sheet]:
    """The sheets of a workbook. Raises `CorruptDocument` when it is none, or one of a kind that cannot be read."""
    main = next((each.target for each in package.relations("") if each.kind == "officeDocument"), MAIN)
    if BINARY in package.names:
        raise CorruptDocument("the file is a binary workbook (xlsb); save it as xlsx and send it again")
    tree = package.tree(main)
    if STRICT in tree.tag:
        raise CorruptDocument("the file is a workbook in the strict Open XML form; save it as a common xlsx and send it again")
    targets = {each.id: each for each in package.relations(main)}
    found = []
    for each in tree.iter():
        relation = targets.get(attribute(each, "id")) if local(each) == "sheet" else None
        if relation is not None:
            hidden = (each.get("state") or "visible") != "visible"
            found.append(Sheet(each.get("name") or "", relation.target, relation.kind == "worksheet", hidden))
    return found


def add_drawings(blocks: PartBlocks, package: Package, sheet: Sheet) -> None:
    """Add the text boxes and charts that lie on a sheet, in the order of the file."""
    for drawing in (each.target for each in package.relations(sheet.part) if each.kind == "drawing"):
        tree = package.optional(drawing)
        targets = {each.id: each.target for each in package.relations(drawing)}
        for each in () if tree is None else tree.iter():
            if local(each) == "txBody" and not any(local(above) == "Fallback" for above in each.iterancestors()):
                add_body(blocks, each)
            elif local(each) == "chart" and (chart := package.optional(targets.get(attribute(each, "id")))) is not None:
                add_chart(blocks, chart)


def add_comments(blocks: PartBlocks, package: Package, sheet: Sheet) -> None:
    """Add the comments of a sheet with their cells and authors. Threads also have a plain copy, which is left out."""
    relations = package.relations(sheet.part)
    threads = [each for relation in relations if relation.kind == "threadedComment" for each in _threaded(package, relation.target)]
    cells = {cell for cell, _, _ in threads}
    plain = [each for relation in relations if relation.kind == "comments" for each in _plain(package, relation.target)]
    lines = []
    for cell, author, text in [*threads, *(each for each in plain if each[0] not in cells)]:
        lines.append(f"- {cell} ({author}): {text}" if author else f"- {cell}: {text}")
    if lines:
        blocks.heading("Comments", 2)
        blocks.lines(BlockKind.LIST, lines)


def _plain(package: Package, part: str) -> list[tuple[str, str, str]]:
    tree = package.optional(part)
    if tree is None:
        return []
    authors = [each.text or "" for each in tree.iter() if local(each) == "author"]
    found = []
    for each in (comment for comment in tree.iter() if local(comment) == "comment"):
        number = each.get("authorId") or ""
        author = authors[int(number)] if number.isascii() and number.isdecimal() and int(number) < len(authors) else ""
        found.append((each.get("ref") or "", author, _text(each)))
    return [each for each in found if each[2]]


def _threaded(package: Package, part: str) -> list[tuple[str, str, str]]:
    tree = package.optional(part)
    people = [person for name in sorted(package.names) if name.startswith("xl/persons/") and (person := package.optional(name)) is not None]
    names = {each.get("id"): each.get("displayName") or "" for person in people for each in person}
    found = [] if tree is None else [each for each in tree if local(each) == "threadedComment"]
    return [(each.get("ref") or "", names.get(each.get("personId"), ""), _text(each)) for each in found if _text(each)]


def _text(element: Any) -> str:
    """The text in one line, without the readings beside Japanese characters."""
    parts = []
    for each in element.iter():
        parent = each.getparent()
        if local(each) in {"t", "text"} and each.text and (parent is None or local(parent) != "rPh"):
            parts.append(each.text)
    return " ".join("".join(parts).split())
