"""A new model makes a new generation, which takes the old one's place while both are in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import ConfigurationError, Conflict, ModelMismatch
from eunoe_stores.vectors.port import IndexFilter, IndexRow, RowRef
from eunoe_stores.vectors.weaviate import open_weaviate
from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.index import WeaviateVectorIndex
from numpy.typing import NDArray

pytestmark = pytest.mark.servers


def row(body: str) -> IndexRow:
    return IndexRow(
        key=uuid4(),
        public_id=uuid4(),
        document=UUID(int=1),
        generation=1,
        container="team",
        kind=Kind.PASSAGE,
        body=body,
        context=body,
        vector=np.ones(8, np.float32),
        parent=UUID(int=2),
        position=0,
        tags=("red",),
        attributes={"page": 1},
    )


async def embed(tenant: str, rows: Sequence[RowRef]) -> Mapping[UUID, NDArray[np.float32]]:
    """The new model; it has four dimensions."""
    return {each.key: np.eye(4, dtype=np.float32)[0] for each in rows}


async def test_a_model_is_changed_while_the_index_is_in_use(index: WeaviateVectorIndex, settings: WeaviateSettings) -> None:
    old, erased, superseded = row("old"), row("erased"), row("superseded")
    await index.bind_model("small", 8)
    await index.upsert("t", [old, erased, superseded])
    with pytest.raises(ModelMismatch):
        await index.bind_model("large", 4)
    number = await index.generations.begin("large", 4)
    assert await index.generations.begin("large", 4) == number == 2
    assert await index.catch_up(number, "t", embed) == 3
    late = row("late")
    await index.upsert("t", [late])
    assert await index.delete_rows("t", [erased.key]) == 1
    await index.set_latest("t", [superseded.key], is_latest=False)
    assert await index.catch_up(number, "t", embed) == 1
    assert await index.catch_up(number, "t", embed) == 0
    await index.generations.switch(number)
    async with open_weaviate(settings) as new:
        assert (new.number, await new.bound_model()) == (2, "large")
        await new.bind_model("large", 4)
        assert set(await new.refs("t", [old.key, late.key, superseded.key, erased.key])) == {old.key, late.key, superseded.key}
        assert await new.missing("t", [old.key, late.key, superseded.key], with_vectors=True) == []
        where = IndexFilter(tags_all=frozenset({"red"}), attributes={"page": 1})
        assert {each.key for each in await new.dense("t", np.eye(4, dtype=np.float32)[0], where, 9)} == {old.key, late.key}
        assert await new.delete_document("t", UUID(int=1), through_generation=1) == 3
    assert await index.count("t") == 0, "what is removed by a process of the new generation is gone from the old one too"


async def test_what_is_removed_while_it_is_copied_stays_removed(index: WeaviateVectorIndex, settings: WeaviateSettings) -> None:
    gone = row("gone")
    await index.bind_model("small", 8)
    await index.upsert("t", [gone, row("kept")])
    number = await index.generations.begin("large", 4)

    async def removing(tenant: str, rows: Sequence[RowRef]) -> Mapping[UUID, NDArray[np.float32]]:
        await index.delete_rows("t", [gone.key])
        return await embed(tenant, rows)

    await index.catch_up(number, "t", removing)
    assert await index.catch_up(number, "t", embed) == 0
    async with open_weaviate(settings.model_copy(update={"generation": number})) as new:
        assert await new.count("t") == 1
        assert await new.refs("t", [gone.key]) == {}


async def test_what_the_new_model_wrote_is_not_overwritten_by_a_copy(index: WeaviateVectorIndex, settings: WeaviateSettings) -> None:
    edited, untouched = row("edited"), row("untouched")
    await index.bind_model("small", 8)
    await index.upsert("t", [edited, untouched])
    number = await index.generations.begin("large", 4)
    assert (await index.generations.label(number)).source == 1
    assert await index.catch_up(number, "t", embed) == 2
    async with open_weaviate(settings.model_copy(update={"generation": number})) as new:
        await new.upsert("t", [replace(edited, tags=("blue",), vector=np.eye(4, dtype=np.float32)[1])])
        await index.upsert("t", [replace(untouched, tags=("green",))])
        assert await index.catch_up(number, "t", embed) == 1
        assert await index.catch_up(number, "t", embed) == 0
        assert await new.missing("t", [edited.key, untouched.key], with_vectors=True) == [], "searches see what was read back"
        tagged = {
            tag: {each.key for each in await new.dense("t", np.ones(4, np.float32), IndexFilter(tags_any=frozenset({tag})), 9)}
            for tag in ("red", "blue", "green")
        }
        assert tagged == {"red": set(), "blue": {edited.key}, "green": {untouched.key}}


async def test_the_generation_in_use_is_not_dropped(index: WeaviateVectorIndex, settings: WeaviateSettings) -> None:
    number = await index.generations.begin("large", 4)
    with pytest.raises(Conflict):
        await index.generations.drop(1)
    await index.generations.switch(number)
    await index.generations.drop(1)
    await index.generations.drop(1)
    assert [(each.number, each.is_current) for each in await index.generations.every()] == [(2, True)]
    with pytest.raises(ConfigurationError):
        async with open_weaviate(settings.model_copy(update={"generation": 7})):
            pass
