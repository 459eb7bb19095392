"""Vectors of another model for rows that are there."""

from __future__ import annotations

from typing import Any

import pytest
from eunoe_contracts.errors import NotEmbeddable
from eunoe_contracts.identity import row_key
from eunoe_embedder.reembedding import vectors_of
from eunoe_embedder.rows import unit_row
from eunoe_models.testing import HashingEmbedder
from eunoe_stores.vectors.port import RowRef


def refs(row: Any, *units: Any) -> list[RowRef]:
    rows = [unit_row(unit, row, None) for unit in units]
    return [
        RowRef(each.key, each.public_id, each.document, each.generation, each.container, each.kind, each.parent, each.position)
        for each in rows
    ]


async def test_a_row_gets_the_vector_of_its_text_and_a_lost_one_none(shelf: Any, model: HashingEmbedder, make: Any) -> None:
    row = make.document()
    there, gone = make.passage(row, 0, "opening hours"), make.passage(row, 1, "refunds")
    shelf.add(row, there)
    found = await vectors_of("t", refs(row, there, gone), catalogue=shelf, model=model)
    assert set(found) == {row_key(there.id, 1)}
    assert (found[row_key(there.id, 1)] == (await model.embed([there.context]))[0]).all()


async def test_a_text_that_the_model_cannot_take_is_told_by_its_document(shelf: Any, model: HashingEmbedder, make: Any) -> None:
    sound, poisoned = make.document(1), make.document(2)
    units = [make.passage(sound, 0, "opening hours"), make.passage(poisoned, 0, "a text with zalgo in it")]
    shelf.add(sound, units[0])
    shelf.add(poisoned, units[1])
    model.poison = "zalgo"
    with pytest.raises(NotEmbeddable, match=str(poisoned.id)):
        await vectors_of("t", [*refs(sound, units[0]), *refs(poisoned, units[1])], catalogue=shelf, model=model)
