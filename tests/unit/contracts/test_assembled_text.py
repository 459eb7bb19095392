"""The extracted text, put together again from passages."""

from __future__ import annotations

from uuid import UUID

from eunoe_contracts.content import Kind, Location, Unit, assemble_text
from eunoe_contracts.identity import passage_id


def test_text_is_assembled_without_repeated_headers():
    document = UUID("00000000-0000-5000-8000-000000000001")

    def passage(ordinal: int, text: str, start: int, end: int) -> Unit:
        place = Location(char_start=start, char_end=end)
        return Unit(passage_id(document, ordinal), document, 1, "c", Kind.PASSAGE, ordinal, text, location=place)

    parts = [passage(1, "| h |\n| - |\n| b |", 26, 31), passage(0, "before\n\n| h |\n| - |\n| a |", 0, 25)]
    assert assemble_text(parts) == "before\n\n| h |\n| - |\n| a |\n| b |"
