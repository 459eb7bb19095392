"""What the index keeps of its rows in memory: ids and vectors in compact arrays, postings up to a limit."""

from __future__ import annotations

from uuid import UUID, uuid4

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_stores.analyser import analyse
from eunoe_stores.vectors.analysis import tokens_of
from eunoe_stores.vectors.port import IndexRow
from eunoe_stores.vectors.sqlite import id_columns, postings
from eunoe_stores.vectors.sqlite.compact_vectors import CompactVectors, cosines, decoded
from eunoe_stores.vectors.sqlite.id_columns import ABSENT, IdColumn, IdTable
from eunoe_stores.vectors.sqlite.postings import MOST_FREQUENT, PostingCache
from hypothesis import example, given
from hypothesis import strategies as st


@pytest.mark.parametrize("recent", [0, 3, 1_000])
def test_ids_have_numbers_in_their_order_and_the_newest_counts(monkeypatch: pytest.MonkeyPatch, recent: int) -> None:
    monkeypatch.setattr(id_columns, "RECENT", recent)
    ids = [uuid4().bytes for _ in range(200)]
    table = IdTable()
    for start in range(0, 200, 7):
        table.extend(ids[start : start + 7])
    assert table.find(ids).tolist() == list(range(200))
    table.extend([ids[5], ids[9]])
    assert (table.number(ids[5]), table.number(ids[9]), table.number(ids[6])) == (200, 201, 6)
    assert table.ids(np.array([200])) == [int.from_bytes(ids[5])]
    assert table.number(uuid4().bytes) is None
    assert table.find([uuid4().bytes, ids[7]]).tolist() == [ABSENT, 7]
    assert table.find([]).tolist() == []


@pytest.mark.parametrize("recent", [0, 1_000])
def test_ids_that_share_their_first_half_are_told_apart(monkeypatch: pytest.MonkeyPatch, recent: int) -> None:
    monkeypatch.setattr(id_columns, "RECENT", recent)
    ids = [bytes(8) + number.to_bytes(8, "big") for number in range(20)]
    table = IdTable()
    for each in ids:
        table.extend([each])
    assert table.find(ids).tolist() == list(range(20))
    assert table.number(bytes(8) + (99).to_bytes(8, "big")) is None


def test_new_ids_are_appended_once() -> None:
    table, ids = IdTable(), [UUID(int=number).bytes for number in (3, 1, 3, 2, 1)]
    assert table.numbers(ids).tolist() == [0, 1, 0, 2, 1]
    assert table.numbers(ids).tolist() == [0, 1, 0, 2, 1]
    assert len(table) == 3
    assert table.chosen([ids[0], uuid4().bytes]).tolist() == [True, False, False]


def test_compacted_ids_are_numbered_anew_and_the_old_table_stays() -> None:
    table, ids = IdTable(), [UUID(int=number).bytes for number in range(5)]
    table.extend(ids)
    kept, column = table.compacted(np.array([4, 1, 4]))
    assert column.tolist() == [1, 0, 1]
    assert (kept.ids(np.array([0, 1])), kept.number(ids[0])) == ([1, 4], None)
    assert table.number(ids[0]) == 0
    plain = IdColumn()
    plain.extend([ids[0], ids[0], ids[3]])
    assert plain.kept(np.array([2, 0])).ids(np.array([0, 1])) == [3, 0]


def test_cosines_of_compact_vectors_are_nearly_exact() -> None:
    draw = np.random.default_rng(5)
    rows = draw.standard_normal((500, 384)).astype(np.float32) * draw.uniform(0.01, 50, (500, 1)).astype(np.float32)
    rows[7] = 0
    query = draw.standard_normal(384).astype(np.float32)
    query /= np.linalg.norm(query)
    compact = CompactVectors(384)
    compact.put(300, np.arange(300), rows[:300])
    compact.put(500, np.arange(300, 500), rows[300:])
    norms = np.linalg.norm(rows, axis=1)
    exact = rows @ query / np.where(norms == 0, 1, norms)
    every = np.arange(500)
    assert np.abs(cosines(compact.arrays(), query, every) - exact).max() < 0.003
    some = np.array([3, 7, 499])
    assert cosines(compact.arrays(), query, some) == pytest.approx(cosines(compact.arrays(), query, every)[some])
    compact.keep(every % 2 == 1)
    assert np.abs(cosines(compact.arrays(), query, np.arange(250)) - exact[1::2]).max() < 0.003
    assert decoded([rows[0].tobytes(), rows[1].tobytes()]).tolist() == rows[:2].tolist()


TEXT = st.text(st.sampled_from("ab 1,2.'\u2019\nthe\u00e9\u6f22\u5b57\u0e44\u0e17\u3000_-"), max_size=25)


@given(TEXT, TEXT, st.sampled_from(["\n", " ", "", "\u3000", "-"]))
@example("the", "the who", "\n")
@example("the", "who the", "\n")
def test_the_context_has_the_tokens_that_it_has_alone(before: str, body: str, between: str) -> None:
    key = uuid4()
    row = IndexRow(key, key, key, 1, "c", Kind.PASSAGE, body, f"{before}{between}{body.strip()}", None, key, 0)
    assert tokens_of(row) == (analyse(row.body), analyse(row.context))


def test_postings_keep_to_their_limit_and_follow_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "MAX_CACHED", 100)
    cache = PostingCache()
    for name in "abcd":
        cache.put("b", name, (np.arange(8, dtype=np.int32), np.ones(8, dtype=np.uint16)))
        cache.shrink("b", keep=1)
    assert cache.unknown("b", "abcd") == ["a", "b"]
    cache.add_row(8, {"b": {"c": 70_000, "a": 1}, "c": {"c": 1}})
    found = cache.get("b", ["c"])
    assert found is not None
    assert (found["c"][0][-1], found["c"][1][-1]) == (8, MOST_FREQUENT)
    assert cache.get("b", ["a"]) is None
    assert cache.get("c", ["c"]) is None
