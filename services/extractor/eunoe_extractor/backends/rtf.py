"""RTF: an own reader with striprtf's tables of destinations and character sets; headings, lists, tables and notes are kept."""

from __future__ import annotations

from pathlib import Path

from eunoe_contracts.errors import CorruptDocument, EmptyFile

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.markdown import first_heading
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.rtf_reader import Reader
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMAT = "rtf"
MARK, MARK_WITHIN = "{\\rtf", 256


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read an RTF file. Footnotes, comments and text boxes follow their paragraph or table; headers and footers stand at the end, each
    once; hidden text is read and told; text that was deleted while changes were tracked is left out.

    Raises `EmptyFile`, `CorruptDocument` (no RTF, cut off, nested too deep), `BudgetExceeded`.
    """
    del name
    data = path.read_bytes()
    if not data:
        raise EmptyFile
    source = data.decode("latin-1")
    start = source.find(MARK, 0, MARK_WITHIN)
    if start < 0:
        raise CorruptDocument("the file is no rich text: its first words are missing")
    blocks = DataBlocks(options.max_blocks)
    reader = Reader(source, start, blocks)
    reader.read()
    blocks.close(1)
    for text in dict.fromkeys(" ".join(clean(each).split()) for each in reader.asides.margins):
        if text and not text.isdecimal():
            blocks.add(BlockKind.PARAGRAPH, text)
    properties = reader.asides.properties
    title = properties.pop("title", "") or first_heading(blocks)
    return ParsedDocument(FORMAT, title, tuple(blocks.blocks), tuple(reader.warnings), properties)
