from __future__ import annotations

from typing import Any

from eunoe_contracts.content import Location
from eunoe_embedder.rows import unit_row


def test_a_row_says_whether_it_is_a_turn(make: Any) -> None:
    row = make.document()
    said = make.passage(row, 0, "Hello.", location=Location(speaker="Ann"))
    assert unit_row(said, row, None).is_turn is True
    assert unit_row(make.passage(row, 1, "Chapter one."), row, None).is_turn is False
