from __future__ import annotations

from uuid import UUID

import pytest
from eunoe_contracts.content import Kind, Location, Unit
from eunoe_contracts.identity import root_id, section_id
from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.rows import End
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import CONTAINER, NOON, TENANT, accept, new_document, passage


@pytest.fixture
async def document(catalogue: SqlCatalogue) -> UUID:
    return (await accept(catalogue, new_document())).document.id


async def put(catalogue: SqlCatalogue, document: UUID, count: int, generation: int = 1) -> bool:
    units = [passage(document, ordinal, generation=generation) for ordinal in range(count)]
    return await catalogue.put_units(TENANT, document, generation, units, title="t", now=NOON)


async def test_units_come_back_as_they_were_in_order(catalogue: SqlCatalogue, document: UUID):
    root = Unit(root_id(document), document, 1, CONTAINER, Kind.ROOT, 0, "All.", indexed=False)
    section = Unit(section_id(document, 0), document, 1, CONTAINER, Kind.SECTION, 0, "S", parent=root.id)
    location = Location(2, 1.5, 2.5, ("Top", "Under"), "Ann", 3, 9)
    last = Unit(passage(document, 1).id, document, 1, CONTAINER, Kind.PASSAGE, 1, "B \U0001f600", "c", section.id, location, 7)
    first = passage(document, 0)
    assert await catalogue.put_units(TENANT, document, 1, [last, section, first, root], title="t", now=NOON)
    assert await catalogue.units(TENANT, document, 1) == [root, section, first, last]
    assert await catalogue.units(TENANT, document, 1, kinds=frozenset({Kind.PASSAGE})) == [first, last]
    assert await catalogue.units("other", document, 1) == []


async def test_put_replaces_the_generation(catalogue: SqlCatalogue, document: UUID):
    await put(catalogue, document, 3)
    await put(catalogue, document, 2)
    assert len(await catalogue.units(TENANT, document, 1)) == 2


async def test_a_fenced_generation_writes_nothing(catalogue: SqlCatalogue, document: UUID):
    await put(catalogue, document, 1)
    await accept(catalogue, new_document(), reprocess=True)
    assert not await put(catalogue, document, 5, 1)
    assert len(await catalogue.units(TENANT, document, 1)) == 1
    await catalogue.set_end(TENANT, document, 2, End(DocumentStatus.FAILED), now=NOON)
    assert not await put(catalogue, document, 5, 2)


async def test_readers_see_the_newest_generation_that_has_units(catalogue: SqlCatalogue, document: UUID):
    assert await catalogue.latest_generation_with_units(TENANT, document) == 0
    await put(catalogue, document, 2)
    await accept(catalogue, new_document(), reprocess=True)
    assert await catalogue.latest_generation_with_units(TENANT, document) == 1
    await put(catalogue, document, 1, 2)
    assert await catalogue.latest_generation_with_units(TENANT, document) == 2
    ids = [passage(document, 0).id, passage(document, 1).id, root_id(document)]
    found = await catalogue.units_by_id(TENANT, ids)
    assert {id_: unit.generation for id_, unit in found.items()} == {ids[0]: 2, ids[1]: 1}
    assert await catalogue.units_by_id("other", ids) == {}
    assert await catalogue.units_by_id(TENANT, []) == {}


async def test_erased_units_are_not_seen_though_not_yet_deleted(catalogue: SqlCatalogue, document: UUID):
    await put(catalogue, document, 2)
    await catalogue.erase(TENANT, document, now=NOON)
    assert await catalogue.units(TENANT, document, 1) == []
    assert await catalogue.units_by_id(TENANT, [passage(document, 0).id]) == {}
    assert await catalogue.latest_generation_with_units(TENANT, document) == 0
    assert await catalogue.delete_units(TENANT, document, through_generation=1) == 2
    assert await catalogue.delete_units(TENANT, document, through_generation=1) == 0


async def test_delete_leaves_newer_generations(catalogue: SqlCatalogue, document: UUID):
    await put(catalogue, document, 2)
    await accept(catalogue, new_document(), reprocess=True)
    await put(catalogue, document, 1, 2)
    assert await catalogue.delete_units("other", document, through_generation=9) == 0
    assert await catalogue.delete_units(TENANT, document, through_generation=1) == 2
    assert len(await catalogue.units(TENANT, document, 2)) == 1


async def turn(catalogue: SqlCatalogue, position: int, *texts: str, session: str = "s") -> UUID:
    new = new_document(f"{session}-{position}", metadata={"session": session, "position": position, "speaker": "Ann"})
    document = (await accept(catalogue, new)).document.id
    if texts:
        units = [passage(document, ordinal, text=text) for ordinal, text in enumerate(texts)]
        await catalogue.put_units(TENANT, document, 1, units, title="", now=NOON)
    return document


async def test_the_turn_before_is_the_nearest_earlier_one(catalogue: SqlCatalogue):
    await turn(catalogue, 1, "one")
    second = await turn(catalogue, 2, "two", "two again")
    await turn(catalogue, 4, "four")
    await turn(catalogue, 3, "other session", session="t")
    found = await catalogue.turn_before(TENANT, CONTAINER, "s", before=4)
    assert found is not None
    assert (found.document, [each.text for each in found.passages], found.is_awaited) == (second, ["two", "two again"], False)
    assert await catalogue.turn_before(TENANT, CONTAINER, "s", before=1) is None
    assert await catalogue.turn_before(TENANT, CONTAINER, "", before=9) is None
    assert await catalogue.turn_before("other", CONTAINER, "s", before=9) is None


async def test_a_turn_before_that_is_not_read_yet_is_awaited_until_it_ends(catalogue: SqlCatalogue):
    await turn(catalogue, 1, "one")
    second = await turn(catalogue, 2)
    awaited = await catalogue.turn_before(TENANT, CONTAINER, "s", before=3)
    assert awaited is not None
    assert (awaited.document, awaited.passages, awaited.is_awaited) == (second, (), True)
    await catalogue.erase(TENANT, second, now=NOON)
    found = await catalogue.turn_before(TENANT, CONTAINER, "s", before=3)
    assert found is not None
    assert [each.text for each in found.passages] == ["one"]
