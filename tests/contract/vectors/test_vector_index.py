"""What every VectorIndex does. A new adapter is one more entry in `INDEXES`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import InternalError, InvalidField, ModelMismatch
from eunoe_stores.analyser import analyse_query
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.testing import MemoryVectorIndex
from eunoe_stores.vectors.port import IndexFilter, IndexRow, Scored, VectorIndex
from eunoe_stores.vectors.sqlite import SqliteVectorIndex
from eunoe_stores.vectors.weaviate.testing import settings_from, temporary_index
from numpy.typing import NDArray

INDEXES: dict[str, Callable[[Path], VectorIndex]] = {
    "sqlite": lambda path: SqliteVectorIndex(SqliteDatabase(path / "index.db", synchronous="NORMAL")),
    "memory": lambda _path: MemoryVectorIndex(),
}
ALL = IndexFilter(latest_only=False)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PARENT = UUID(int=77)


@pytest.fixture(params=[*sorted(INDEXES), pytest.param("weaviate", marks=pytest.mark.servers)])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorIndex]:
    if request.param == "weaviate":
        async with temporary_index(settings_from(request.getfixturevalue("servers")["weaviate"].settings())) as served:
            yield served
        await served.close()
        return
    made = INDEXES[request.param](tmp_path)
    yield made
    await made.close()
    await made.close()


async def settled(index: VectorIndex) -> None:
    """A local index finds a vector at once, another one when `flush` has returned."""
    if not index.is_local:
        await index.flush()


def axis(number: int, dimensions: int = 8) -> NDArray[np.float32]:
    return np.eye(dimensions, dtype=np.float32)[number]


def row(body: str = "quiet text", **changes: object) -> IndexRow:
    made = IndexRow(
        key=uuid4(),
        public_id=uuid4(),
        document=UUID(int=1),
        generation=1,
        container="team",
        kind=Kind.PASSAGE,
        body=body,
        context=body,
        vector=None,
        parent=PARENT,
        position=0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # any field by name


def keys(found: Sequence[Scored]) -> list[UUID]:
    return [each.key for each in found]


async def body(index: VectorIndex, query: str, where: IndexFilter = ALL, *, tenant: str = "t", limit: int = 10) -> list[UUID]:
    return keys(await index.bm25_body(tenant, analyse_query(query), where, limit))


async def test_bm25_follows_the_formula(index: VectorIndex) -> None:
    one, two, three = row("zebra zebra lion"), row("zebra tiger tiger tiger panther"), row("otter")
    await index.upsert("t", [one, two, three])
    average = (3 + 5 + 1) / 3
    zebra, lion = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    norm_one, norm_two = (1.2 * (0.25 + 0.75 * length / average) for length in (3, 5))
    expected = {one.key: zebra * 2 / (2 + norm_one) + lion / (1 + norm_one), two.key: zebra / (1 + norm_two)}
    found = await index.bm25_body("t", ["zebra", "lion", "unicorn"], ALL, 10)
    assert keys(found) == [one.key, two.key]
    assert {each.key: each.score for each in found} == pytest.approx(expected, rel=1e-6)


async def test_statistics_follow_changes(index: VectorIndex) -> None:
    kept, gone = row("zebra lion"), row("zebra tiger panther otter")
    await index.upsert("t", [kept, gone])
    await index.bm25_body("t", ["zebra", "otter"], ALL, 10)
    await index.delete_rows("t", [gone.key])
    extra = row("lion zebra zebra")
    await index.upsert("t", [replace(kept, body="zebra"), extra, extra])
    average = (1 + 3) / 2
    weight = math.log(1 + 0.5 / 2.5)
    expected = {key: weight * tf / (tf + 1.2 * (0.25 + 0.75 * n / average)) for key, tf, n in ((kept.key, 1, 1), (extra.key, 2, 3))}
    found = await index.bm25_body("t", ["zebra", "otter"], ALL, 10)
    assert {each.key: each.score for each in found} == pytest.approx(expected, rel=1e-6)
    assert await body(index, "otter") == []


async def test_body_and_context_are_two_fields(index: VectorIndex) -> None:
    only = row("lion", context="Savannah guide\nlion")
    await index.upsert("t", [only, row("tiger")])
    assert await body(index, "savannah") == []
    assert keys(await index.bm25_context("t", analyse_query("savannah"), ALL, 10)) == [only.key]


async def test_words_of_other_scripts_are_found(index: VectorIndex) -> None:
    rows = [row("東京都に住んでいます"), row("Москва слезам не верит"), row("Café in Zürich"), row("ภาษาไทยง่าย")]
    await index.upsert("t", rows)
    for query, wanted in (("京都", 0), ("москва", 1), ("cafe zurich", 2), ("ไทย", 3)):
        assert (await body(index, query))[:1] == [rows[wanted].key], query


async def test_odd_query_tokens_are_harmless(index: VectorIndex) -> None:
    await index.upsert("t", [row("zebra")])
    for token in ('"', "zebra~", "zebra~1", "*", "b1xzebra", "\x7f", "", "ze%"):
        assert await index.bm25_body("t", [token], ALL, 10) == []


async def test_which_row_holds_which_token(index: VectorIndex) -> None:
    one, two = row("zebra lion"), row("tiger", context="Savannah guide\ntiger")
    await index.upsert("t", [one, two])
    held = await index.holding("t", ["zebra", "savannah", "unicorn"], [two.key, uuid4(), one.key])
    assert held.tolist() == [[False, True, False], [False, False, False], [True, False, False]]
    assert (await index.holding("t", [], [one.key])).shape == (1, 0)
    assert (await index.holding("nobody", ["zebra"], [one.key])).tolist() == [[False]]


async def test_parents_are_scored_by_their_rows_together(index: VectorIndex) -> None:
    other = UUID(int=78)
    rows = [row("zebra", position=1), row("lion", position=0), row("zebra zebra zebra", parent=other), row("x y z", parent=UUID(int=79))]
    await index.upsert("t", rows)
    average = (2 + 3 + 3) / 3
    zebra, lion = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    norms = {length: 1.2 * (0.25 + 0.75 * length / average) for length in (2, 3)}
    found = await index.bm25_parent("t", ["zebra", "lion"], ALL, 10)
    assert found == pytest.approx({PARENT: zebra / (1 + norms[2]) + lion / (1 + norms[2]), other: zebra * 3 / (3 + norms[3])}, rel=1e-6)
    assert next(iter(found)) == max(found, key=lambda parent: found[parent])
    assert list(await index.bm25_parent("t", ["zebra", "lion"], ALL, 1)) == list(found)[:1]
    assert [each.key for each in await index.rows_of_parent("t", PARENT)] == [rows[1].key, rows[0].key]


async def test_dense_is_exact_and_leaves_out_rows_without_a_vector(index: VectorIndex) -> None:
    near, far, none = row(vector=axis(0) * 5), row(vector=axis(0) + axis(1)), row()
    await index.upsert("t", [far, none, near])
    await settled(index)
    found = await index.dense("t", axis(0) * 3, ALL, 10)
    assert [(each.key, pytest.approx(each.score, abs=1e-6)) for each in found] == [(near.key, 1.0), (far.key, 0.5**0.5)]
    assert await index.cosines("t", axis(1), [near.key, none.key, uuid4()]) == pytest.approx({near.key: 0.0}, abs=1e-6)


async def test_filters_work_inside_the_index(index: VectorIndex) -> None:
    rare = [row("zebra", vector=axis(0), container="rare", position=number) for number in range(10)]
    common = [row("zebra zebra", vector=axis(0), container="common") for _ in range(300)]
    await index.upsert("t", [*common, *rare])
    await settled(index)
    where = IndexFilter(containers=("rare",))
    wanted = {each.key for each in rare}
    assert set(keys(await index.dense("t", axis(0), where, 10))) == wanted
    assert set(await body(index, "zebra", where)) == wanted
    assert set(keys(await index.bm25_context("t", ["zebra"], where, 10))) == wanted


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (IndexFilter(containers=("a.b",)), {1}),
        (IndexFilter(containers=("a.*", "c")), {1, 2, 3}),
        (IndexFilter(containers=("*",)), {0, 1, 2, 3}),
        (IndexFilter(containers=("nowhere",)), set()),
        (IndexFilter(kinds=frozenset({Kind.FACT, Kind.TASK})), {2}),
        (IndexFilter(documents=frozenset({UUID(int=3), UUID(int=99)})), {3}),
        (IndexFilter(tags_any=frozenset({"red", "blue", "none"})), {0, 1}),
        (IndexFilter(tags_all=frozenset({"red", "blue"})), {1}),
        (IndexFilter(attributes={"page": 1}), {2}),
        (IndexFilter(attributes={"page": True}), {3}),
        (IndexFilter(attributes={"page": "1", "user": "ann"}), {0}),
        (IndexFilter(attributes={"user": None}), {1}),
        (IndexFilter(since=NOON), {1, 2}),
        (IndexFilter(until=NOON), {0, 1}),
        (IndexFilter(since=NOON, until=NOON, latest_only=False), {1}),
        (IndexFilter(latest_only=False), {0, 1, 2, 3, 4}),
        (IndexFilter(containers=("a.*",), kinds=frozenset({Kind.PASSAGE}), since=NOON), {1}),
    ],
)
async def test_each_condition(index: VectorIndex, where: IndexFilter, wanted: set[int]) -> None:
    hour = timedelta(hours=1)
    rows = [
        row("zebra", container="a", tags=("red",), attributes={"page": "1", "user": "ann"}, event_time=NOON - hour, created_at=NOON + hour),
        row("zebra", container="a.b", tags=("blue", "red"), attributes={"user": None}, created_at=NOON),
        row("zebra", container="a.bc", kind=Kind.FACT, attributes={"page": 1.0}, event_time=NOON + hour),
        row("zebra", container="c", document=UUID(int=3), attributes={"page": True}),
        row("zebra", container="old", is_latest=False),
    ]
    await index.upsert("t", [replace(each, vector=axis(0)) for each in rows])
    await settled(index)
    expected = {rows[number].key for number in wanted}
    assert set(await body(index, "zebra", where)) == expected
    assert set(keys(await index.dense("t", axis(0), where, 10))) == expected


async def test_superseded_rows_leave_and_return(index: VectorIndex) -> None:
    only = row("zebra", vector=axis(0))
    await index.upsert("t", [only])
    await body(index, "zebra")
    await index.set_latest("t", [only.key, uuid4()], is_latest=False)
    assert await body(index, "zebra", IndexFilter()) == []
    assert await body(index, "zebra", ALL) == [only.key]
    await index.set_latest("t", [only.key], is_latest=True)
    assert await body(index, "zebra", IndexFilter()) == [only.key]


async def test_tenants_are_apart(index: VectorIndex) -> None:
    mine = row("zebra", vector=axis(0))
    await index.upsert("t", [mine])
    await index.upsert("u", [replace(mine, body="lion"), row("zebra zebra", vector=axis(0))])
    assert await body(index, "zebra") == [mine.key]
    assert await index.dense("nobody", axis(0), ALL, 10) == []
    assert await index.delete_document("nobody", mine.document, through_generation=9) == 0
    assert await index.delete_rows("u", [mine.key]) == 1
    assert await index.missing("t", [mine.key], with_vectors=True) == []
    assert (await index.count("t"), await index.count("u"), await index.count("nobody")) == (1, 1, 0)
    assert set(await index.refs("u", [mine.key])) == set()
    with pytest.raises(InvalidField):
        await index.count("../t")


async def test_older_generations_go_and_memories_stay(index: VectorIndex) -> None:
    document, public = UUID(int=5), uuid4()
    old = row("zebra old", document=document, public_id=public, generation=1)
    new = row("zebra new", document=document, public_id=public, generation=2)
    memory = row("zebra fact", document=document, kind=Kind.FACT)
    await index.upsert("t", [new, old, memory])
    assert await index.keys_of("t", [public, uuid4()]) == {public: (old.key, new.key)}
    assert await index.documents("t") == [(document, 1), (document, 2)]
    assert await index.delete_document("t", document, through_generation=1) == 1
    assert await index.delete_document("t", document, through_generation=1) == 0
    assert await index.keys_of("t", [public]) == {public: (new.key,)}
    assert set(await body(index, "zebra")) == {new.key, memory.key}
    assert await index.delete_document("t", document, through_generation=2) == 1
    assert await index.documents("t") == []
    assert await index.count("t", document=document) == 1


async def test_upsert_is_idempotent_and_replaces(index: VectorIndex) -> None:
    first = row("zebra", vector=axis(0))
    for _ in range(3):
        await index.upsert("t", [first])
    assert (await index.count("t"), await body(index, "zebra")) == (1, [first.key])
    await index.upsert("t", [replace(first, body="lion", container="moved", vector=axis(1))])
    assert (await body(index, "zebra"), await body(index, "lion")) == ([], [first.key])
    assert (await index.refs("t", [first.key]))[first.key].container == "moved"
    assert await index.cosines("t", axis(1), [first.key]) == pytest.approx({first.key: 1.0})


async def test_coverage_is_the_share_of_idf_weight(index: VectorIndex) -> None:
    one, two = row("zebra lion"), row("zebra")
    await index.upsert("t", [one, two])
    zebra, lion, unknown = (math.log(1 + (2 - n + 0.5) / (n + 0.5)) for n in (2, 1, 0))
    found = await index.coverage("t", ["zebra", "lion", "unicorn", "zebra"], [one.key, two.key, uuid4()])
    total = zebra + lion + unknown
    assert found == pytest.approx({one.key: (zebra + lion) / total, two.key: zebra / total}, rel=1e-6)
    assert await index.coverage("t", [], [one.key]) == {one.key: 0.0}


async def test_read_back_names_what_a_query_would_not_find(index: VectorIndex) -> None:
    with_vector, without, unknown = row("zebra", vector=axis(0)), row("the", vector=None), uuid4()
    twins = [row("zebra", vector=axis(0)) for _ in range(150)]
    await index.upsert("t", [with_vector, without, *twins])
    wanted = [with_vector.key, without.key, unknown]
    assert await index.missing("t", wanted, with_vectors=False) == [unknown]
    assert await index.missing("t", wanted, with_vectors=True) == [without.key, unknown]
    assert await index.missing("t", [each.key for each in twins], with_vectors=True) == []
    assert await index.missing("t", [], with_vectors=True) == []


async def test_vectors_of_another_model_are_refused(index: VectorIndex) -> None:
    assert await index.bound_model() is None
    await index.bind_model("one", 8)
    await index.bind_model("two", 4)
    await index.bind_model("one", 8)
    await index.upsert("t", [row(vector=axis(0))])
    with pytest.raises(ModelMismatch):
        await index.upsert("t", [row(vector=axis(0)), row(vector=axis(0, 4))])
    with pytest.raises(ModelMismatch):
        await index.dense("t", axis(0, 4), ALL, 3)
    with pytest.raises(ModelMismatch):
        await index.bind_model("two", 8)
    with pytest.raises(InternalError):
        await index.upsert("t", [row(vector=axis(0) * np.float32("nan"))])
    await index.bind_model("one", 8)
    assert (await index.bound_model(), await index.count("t")) == ("one", 1)


async def test_ties_come_in_the_same_order(index: VectorIndex) -> None:
    rows = [row("zebra", vector=axis(0)) for _ in range(40)]
    await index.upsert("t", rows)
    await settled(index)
    expected = sorted(each.key for each in rows)[:7]
    assert keys(await index.dense("t", axis(0), ALL, 7)) == expected
    assert await body(index, "zebra", limit=7) == expected


async def test_rows_without_a_vector_are_counted(index: VectorIndex) -> None:
    assert await index.without_vectors("t") == 0
    bare = [row("zebra"), row("zebra", document=UUID(int=2))]
    await index.upsert("t", [*bare, row("zebra", vector=axis(0))])
    await index.upsert("other", [row("zebra")])
    assert await index.without_vectors("t") == 2
    await index.upsert("t", [replace(bare[0], vector=axis(1))])
    assert await index.without_vectors("t") == 1
    await index.delete_document("t", UUID(int=2), through_generation=1)
    assert await index.without_vectors("t") == 0


async def test_a_purge_leaves_what_was_not_deleted(index: VectorIndex) -> None:
    assert await index.purge()
    rows = [row(f"zebra word{number}", vector=axis(number), document=UUID(int=number)) for number in range(8)]
    for each in rows:
        await index.upsert("t", [each])
    await index.delete_document("t", UUID(int=3), through_generation=1)
    left = {each.key for each in rows if each.document != UUID(int=3)}
    for _ in range(2):
        assert await index.purge()
        assert set(await body(index, "zebra", limit=20)) == left
        assert await index.missing("t", sorted(left), with_vectors=True) == []
        assert await body(index, "word3") == []
    await index.upsert("t", [rows[3]])
    assert await body(index, "word3") == [rows[3].key]


async def test_many_writers_and_readers_at_once(index: VectorIndex) -> None:
    batches = [[row(f"zebra word{number}", vector=axis(number % 8), document=UUID(int=number)) for _ in range(4)] for number in range(40)]

    async def write(number: int) -> None:
        await index.upsert("t", batches[number])
        assert await index.missing("t", [each.key for each in batches[number]], with_vectors=True) == []
        assert set(await body(index, f"word{number}")) == {each.key for each in batches[number]}
        if number % 2:
            assert await index.delete_document("t", UUID(int=number), through_generation=1) == 4
            assert await body(index, f"word{number}") == []

    await asyncio.gather(*(write(number) for number in range(40)))
    await index.flush()
    assert await index.count("t") == 80
    left = {each.key for number in range(0, 40, 2) for each in batches[number]}
    assert set(await body(index, "zebra", limit=200)) == left
    assert set(keys(await index.dense("t", axis(0) + axis(2), ALL, 200))) == left


async def test_a_replaced_row_is_never_seen_twice(index: VectorIndex) -> None:
    rows = [row(f"zebra {number}", vector=axis(number % 8)) for number in range(20)]

    async def rewrite() -> None:
        for turn in range(15):
            await index.upsert("t", [replace(each, body=f"zebra turn{turn}") for each in rows])

    async def look() -> None:
        for _ in range(30):
            found = await body(index, "zebra", limit=100)
            assert len(found) == len(set(found)) <= 20
            await index.dense("t", axis(0), ALL, 5)

    await asyncio.gather(rewrite(), look(), rewrite())
    assert len(await body(index, "turn14", limit=100)) == 20
    assert await body(index, "turn13", limit=100) == []
