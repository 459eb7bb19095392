"""ODP: slides with their titles, shapes and notes."""

from __future__ import annotations

from typing import Any

from eunoe_extractor.backends.open_names import DRAW, PRESENTATION, STYLE
from eunoe_extractor.backends.open_text import OpenText
from eunoe_extractor.backends.part_blocks import PartBlocks

CLASS = f"{PRESENTATION}class"
UNSEEN = frozenset({"page-number", "date-time"})


def add_slides(blocks: PartBlocks, text: OpenText, tree: Any, body: Any) -> list[int]:
    """Add all slides, hidden ones too, and return the numbers of those."""
    unseen = {
        style.get(f"{STYLE}name")
        for style in tree.iter(f"{STYLE}style")
        for each in style.iterchildren(f"{STYLE}drawing-page-properties")
        if each.get(f"{PRESENTATION}visibility") == "hidden"
    }
    hidden = []
    for number, page in enumerate(body.iterchildren(f"{DRAW}page"), start=1):
        if page.get(f"{DRAW}style-name") in unseen:
            hidden.append(number)
        title = next((each for each in page if each.get(CLASS) == "title"), None)
        blocks.slide(number, "" if title is None else text.box(title))
        text.flush()
        for shape in page:
            if shape is not title and shape.get(CLASS) not in UNSEEN and shape.tag != f"{PRESENTATION}notes":
                text.element(shape)
        for notes in page.iterchildren(f"{PRESENTATION}notes"):
            _notes(blocks, text, notes)
    return hidden


def _notes(blocks: PartBlocks, text: OpenText, notes: Any) -> None:
    shapes = [each for each in notes if each.get(CLASS) not in UNSEEN and any("".join(part.itertext()).strip() for part in each)]
    if shapes:
        blocks.heading("Notes", 2)
    for shape in shapes:
        text.element(shape)
