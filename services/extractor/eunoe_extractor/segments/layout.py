"""The extracted text of a document and where its blocks stand in it."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument, as_markdown

BETWEEN_BLOCKS = "\n\n"


@dataclass(frozen=True, slots=True)
class Span:
    """A block and its place: characters from `start` to `end` of the extracted text."""

    start: int
    end: int
    block: Block

    @property
    def path(self) -> tuple[str, ...]:
        """Headings the text stands under; a heading stands under itself."""
        if self.block.kind is BlockKind.HEADING:
            return (*self.block.heading_path, self.block.text.strip())
        return self.block.heading_path


@dataclass(frozen=True, slots=True)
class Layout:
    """The extracted text as Markdown, blocks apart by one empty line. It neither begins nor ends with white space lines."""

    text: str
    spans: tuple[Span, ...]


def lay_out(document: ParsedDocument) -> Layout:
    """Blocks without visible text are left out; a document that is source code as a whole gets no fences."""
    is_code = document.format_id == "code"
    parts: list[str] = []
    spans: list[Span] = []
    at = 0
    for block in document.blocks:
        if not block.text.strip():
            continue
        text = block.text if is_code and block.kind is BlockKind.CODE else as_markdown(block)
        text = text.rstrip().lstrip("\r\n")
        start = at + (len(BETWEEN_BLOCKS) if parts else 0)
        at = start + len(text)
        parts.append(text)
        spans.append(Span(start, at, block))
    return Layout(BETWEEN_BLOCKS.join(parts), tuple(spans))
