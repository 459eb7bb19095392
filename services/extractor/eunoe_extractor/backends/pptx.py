"""PPTX: python-pptx opens the package and knows slides and notes; shapes, charts, diagrams and comments are read from their XML."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import CorruptDocument
from lxml import etree
from pptx.exc import PythonPptxError
from pptx.package import Package as OpenedPackage

from eunoe_extractor.backends.drawing import add_body, add_chart, body_text, table_rows
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.package import DAMAGED, Package, attribute, local
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.backends.pptx_comments import Comments
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMAT = "pptx"
ERRORS = (*DAMAGED, PythonPptxError, etree.XMLSyntaxError, KeyError, ValueError, TypeError, AttributeError, IndexError, AssertionError)
TITLES = frozenset({"title", "ctrTitle"})
LISTED = frozenset({"body", "obj"})
MARGINS = frozenset({"ftr", "hdr", "dt"})


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read all slides, hidden ones too. A slide is a heading with its number as page, then its shapes in the order of the file, its
    notes and its comments.

    Raises `EmptyFile`, `EncryptedDocument`, `CorruptDocument`, `BudgetExceeded`.
    """
    del name
    with Package(path) as package:
        properties = package.properties()
        try:
            slides = list(OpenedPackage.open(str(path)).main_document_part.presentation.slides)
        except ERRORS as error:
            raise CorruptDocument("the presentation is damaged") from error
        reader = _Slides(PartBlocks(options.max_blocks), package)
        for number, slide in enumerate(slides, start=1):
            reader.add(number, slide)
    blocks = reader.blocks.blocks
    title = properties.pop("title", "") or next((each.text for each in blocks), "")
    return ParsedDocument(FORMAT, title, tuple(blocks), reader.warnings, properties)


class _Slides:
    """Adds one slide after the other."""

    def __init__(self, blocks: PartBlocks, package: Package) -> None:
        self.blocks = blocks
        self._package = package
        self._comments = Comments(package)
        self._hidden: list[int] = []
        self._margins: set[str] = set()

    @property
    def warnings(self) -> tuple[str, ...]:
        numbers = ", ".join(map(str, self._hidden))
        return (f"hidden slides were read too: {numbers}",) if numbers else ()

    def add(self, number: int, slide: Any) -> None:
        if slide.element.get("show") in {"0", "false"}:
            self._hidden.append(number)
        part = str(slide.part.partname).lstrip("/")
        shapes = list(_flat(slide.element))
        title = next((each for each in shapes if _placeholder(each) in TITLES and _body(each) is not None), None)
        self.blocks.slide(number, "" if title is None else body_text(_body(title)))
        targets = {each.id: each.target for each in self._package.relations(part)}
        for shape in shapes:
            if shape is not title:
                self._shape(shape, targets)
        self._notes(slide)
        self._comments.add(self.blocks, part)

    def _shape(self, shape: Any, targets: dict[str, str]) -> None:
        body = _body(shape)
        kind = _placeholder(shape)
        if local(shape) == "graphicFrame":
            self._graphic(shape, targets)
        elif body is None or kind == "sldNum":
            return
        elif kind in MARGINS:
            text = body_text(body)
            if text not in self._margins:
                self._margins.add(text)
                self.blocks.add(BlockKind.PARAGRAPH, text)
        else:
            add_body(self.blocks, body, listed=kind in LISTED)

    def _graphic(self, frame: Any, targets: dict[str, str]) -> None:
        for each in frame.iter():
            kind = local(each)
            if kind == "tbl":
                self.blocks.table(table_rows(each))
            elif kind == "chart" and (tree := self._package.optional(targets.get(attribute(each, "id")))) is not None:
                add_chart(self.blocks, tree)
            elif kind == "relIds" and (tree := self._package.optional(targets.get(attribute(each, "dm")))) is not None:
                texts = [body_text(body) for body in tree.iter() if local(body) == "t" and len(body)]
                self.blocks.add(BlockKind.LIST, "\n".join(f"- {text}" for text in texts if text))

    def _notes(self, slide: Any) -> None:
        """Speaker notes with all their shapes, except for the slide's picture and the margins."""
        notes = next((each.target for each in self._package.relations(_part(slide)) if each.kind == "notesSlide"), None)
        tree = self._package.optional(notes)
        skipped = {*MARGINS, "sldNum", "sldImg"}
        shapes = [] if tree is None else [each for each in _flat(tree) if _placeholder(each) not in skipped]
        bodies = [body for each in shapes if (body := _body(each)) is not None and body_text(body)]
        if bodies:
            self.blocks.heading("Notes", 2)
        for body in bodies:
            add_body(self.blocks, body)


def _part(slide: Any) -> str:
    return posixpath.normpath(str(slide.part.partname)).lstrip("/")


def _flat(element: Any) -> Iterator[Any]:
    """Shapes in order, those of groups in their place. Of alternatives the first, which newer programs show."""
    for each in element:
        kind = local(each)
        if kind in {"sp", "graphicFrame", "cxnSp", "pic"}:
            yield each
        elif kind in {"cSld", "spTree", "grpSp", "Choice"}:
            yield from _flat(each)
        elif kind == "AlternateContent":
            choices = [list(_flat(choice)) for choice in each if local(choice) == "Choice"]
            fallbacks = [list(_flat(choice)) for choice in each if local(choice) == "Fallback"]
            yield from next((found for found in [*choices, *fallbacks] if found), [])


def _placeholder(shape: Any) -> str:
    """The type of a placeholder; "" when the shape is none."""
    found = next((each for each in shape.iter() if local(each) == "ph"), None)
    return "" if found is None else str(found.get("type") or "obj")


def _body(shape: Any) -> Any | None:
    return next((each for each in shape if local(each) == "txBody"), None)
