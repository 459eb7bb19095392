"""What a parser returns: a document as an ordered list of blocks. Pure data; it crosses the process border by pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol


class BlockKind(StrEnum):
    """What a block is; the segmenter cuts by it."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document in reading order.

    `text` is Markdown-like source: a heading has no `#` signs (its `level`, 1 to 6, says it), a list keeps its markers and
    indentation, one item per line or more; a quote has no `>` signs; code is verbatim, without fences; a table is a Markdown
    pipe table made of `header` and `rows`. `heading_path` holds the titles of the headings above, outermost first; the block's
    own title is not in it when the block is a heading. `page` counts from 1. `start_s` and `end_s` are seconds of a recording.
    """

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None
    start_s: float | None = None
    end_s: float | None = None
    speaker: str = ""
    heading_path: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document that was read. No blocks means that reading succeeded and found no text.

    `metadata` holds what the file says about itself; the keys in use are `charset`, `pages`, `author`, `language` (a natural
    language tag, or the programming language of code), `created` and `modified` (ISO 8601). `warnings` are sentences for the
    user and never quote the document.
    """

    format_id: str
    title: str = ""
    blocks: tuple[Block, ...] = ()
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by plain values, so that a read-only mapping may cross the process border too."""
        return (ParsedDocument, (self.format_id, self.title, self.blocks, self.warnings, dict(self.metadata)))

    @property
    def text(self) -> str:
        """The whole document as Markdown-like text, blocks apart by an empty line."""
        return "\n\n".join(as_markdown(each) for each in self.blocks)


def as_markdown(block: Block) -> str:
    """One block as Markdown: with heading signs, quote signs and fences put back."""
    if block.kind is BlockKind.HEADING:
        return f"{'#' * max(1, min(6, block.level))} {block.text}"
    if block.kind is BlockKind.QUOTE:
        return "\n".join(f"> {line}".rstrip() for line in block.text.split("\n"))
    if block.kind is BlockKind.CODE:
        fence = "````" if "```" in block.text else "```"
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    return block.text


class Parser(Protocol):
    """Reads one file into blocks, never in the calling process."""

    async def parse(self, path: Path, *, format_id: str, name: str) -> ParsedDocument:
        """Read the file at `path` as `format_id`; `name` is the user's file name, for titles and languages only.

        Raises a `ContentError` when this file can never be read (corrupt, encrypted, over a budget, parser hung or crashed) and
        `WorkerUnavailable` when no worker could be had, which is not the document's fault. The same file may be parsed again.
        """
        ...
