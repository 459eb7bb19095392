"""What a parser is told: the format as it was accepted, and ceilings beyond those of the worker process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """`max_pages`: pages of a PDF. `table_s`: seconds that looking for tables may take per document; afterwards pages are read as
    plain text. `max_blocks`: blocks of one document. `format_id`: where one module reads several formats; empty: by name and content.
    """

    max_pages: int = 10_000
    table_s: float = 25.0
    max_blocks: int = 200_000
    format_id: str = ""
