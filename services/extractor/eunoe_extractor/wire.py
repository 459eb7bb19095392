"""A parsed document as JSON data and back. What comes back from a worker is checked, since a parser may have been taken over."""

from __future__ import annotations

from typing import Any

from eunoe_contracts.errors import ParserCrashed

from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument


def to_wire(document: ParsedDocument) -> list[Any]:
    """Plain lists and strings; fields by position, as this never leaves the machine or outlives the call."""
    return [
        document.format_id,
        document.title,
        [_block_to_wire(each) for each in document.blocks],
        list(document.warnings),
        dict(document.metadata),
    ]


def _block_to_wire(block: Block) -> list[Any]:
    plain = [block.kind.value, block.text, block.level, block.page, block.start_s, block.end_s]
    return [*plain, block.speaker, block.heading_path, block.header, block.rows, block.language]


def from_wire(value: Any) -> ParsedDocument:
    """The document again. Raises `ParserCrashed` when the data do not have its shape."""
    try:
        format_id, title, blocks, warnings, metadata = value
        return ParsedDocument(
            str(format_id),
            str(title),
            tuple(_block_from_wire(*each) for each in blocks),
            tuple(str(each) for each in warnings),
            {str(key): str(item) for key, item in metadata.items()},
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ParserCrashed("the parser gave an answer that is not valid") from error


def _block_from_wire(kind: str, text: str, level: int, page: int | None, start_s: float | None, end_s: float | None, *rest: Any) -> Block:
    speaker, heading_path, header, rows, language = rest
    return Block(
        BlockKind(kind),
        str(text),
        int(level),
        None if page is None else int(page),
        None if start_s is None else float(start_s),
        None if end_s is None else float(end_s),
        str(speaker),
        tuple(str(each) for each in heading_path),
        tuple(str(each) for each in header),
        tuple(tuple(str(cell) for cell in row) for row in rows),
        str(language),
    )
