"""Plain text: the character set, then paragraphs at empty lines. Line breaks inside a paragraph are kept."""

from __future__ import annotations

from pathlib import Path

from eunoe_contracts.errors import EmptyFile
from eunoe_safety.charset import Decoded, decode

from eunoe_extractor.backends.blocks import BlockList, clean
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMAT = "text"


def read_text(path: Path, *, markup: bool = False) -> Decoded:
    """The file as clean text. Raises `EmptyFile` when it has no bytes. `markup` also believes declarations inside the text."""
    data = path.read_bytes()
    if not data:
        raise EmptyFile
    found = decode(data, markup=markup)
    return Decoded(clean(found.text), found.codec, found.warning)


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a text file. No title: there is none inside. Raises `EmptyFile`."""
    del name, options
    found = read_text(path)
    blocks = BlockList()
    for paragraph in paragraphs(found.text):
        blocks.add(BlockKind.PARAGRAPH, paragraph)
    warnings = (found.warning,) if found.warning else ()
    return ParsedDocument(FORMAT, blocks=tuple(blocks.blocks), warnings=warnings, metadata={"charset": found.codec})


def paragraphs(text: str) -> list[str]:
    """Runs of lines that are not empty, without white space at the line ends."""
    found: list[str] = []
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            found.append("\n".join(lines))
            lines = []
    if lines:
        found.append("\n".join(lines))
    return found
