from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid5

import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import ConfigurationError, SchemaTooNew
from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.vectors.port import IndexFilter, IndexRow
from eunoe_stores.vectors.sqlite import SqliteVectorIndex, columns, postings, reads, space
from eunoe_stores.vectors.sqlite.schema import store_setting

SPACE = UUID(int=3)
ALL = IndexFilter(latest_only=False)
WRITER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_sqlite_vectors import SqliteDatabase, SqliteVectorIndex, numbered
async def main():
    index = SqliteVectorIndex(SqliteDatabase(Path(sys.argv[1]), synchronous="NORMAL"))
    for start in range(0, 100_000, 10):
        await index.upsert("t", [numbered(number) for number in range(start, start + 10)])
        print(start + 10, flush=True)
asyncio.run(main())
"""


def numbered(number: int, *, text: str = "") -> IndexRow:
    vector = np.random.default_rng(number).standard_normal(16).astype(np.float32)
    key = uuid5(SPACE, str(number))
    body = text or f"zebra word{number}"
    return IndexRow(key, key, UUID(int=number // 10), 1, "c", Kind.PASSAGE, body, body, vector, UUID(int=1), number)


def opened(path: Path) -> SqliteVectorIndex:
    return SqliteVectorIndex(SqliteDatabase(path / "index.db", synchronous="NORMAL"))


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[SqliteVectorIndex]:
    made = opened(tmp_path)
    yield made
    await made.close()


async def test_rows_survive_closing_and_changes_go_on(tmp_path: Path) -> None:
    first = opened(tmp_path)
    await first.bind_model("m", 16)
    await first.upsert("t", [numbered(number) for number in range(50)])
    await first.set_latest("t", [numbered(3).key], is_latest=False)
    await first.delete_document("t", UUID(int=1), through_generation=1)
    before = await first.bm25_body("t", ["zebra"], ALL, 100)
    await first.flush()
    await first.close()
    second = opened(tmp_path)
    assert await second.bound_model() == "m"
    assert await second.bm25_body("t", ["zebra"], ALL, 100) == before
    assert len(await second.bm25_body("t", ["zebra"], IndexFilter(), 100)) == 39
    await second.upsert("t", [numbered(60)])
    assert [each.key for each in await second.dense("t", numbered(60).vector, ALL, 1)] == [numbered(60).key]
    assert await second.count("t") == 41
    await second.close()


async def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    def run() -> int:
        here = str(Path(__file__).parent)
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "index.db"), here], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            acknowledged = 0
            while acknowledged < 300:
                acknowledged = int(writer.stdout.readline())
            writer.kill()
            return max([acknowledged, *(int(line) for line in writer.stdout.read().split("\n") if line.endswith("0"))])

    acknowledged = await asyncio.to_thread(run)
    index = opened(tmp_path)
    assert await index.missing("t", [numbered(number).key for number in range(acknowledged)], with_vectors=True) == []
    assert len(await index.bm25_body("t", ["zebra"], ALL, 100_000)) == await index.count("t") >= acknowledged
    await index.close()


async def test_removed_rows_are_compacted_away(index: SqliteVectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "DEAD_ROWS", 20)
    await index.upsert("t", [numbered(number) for number in range(200)])
    await index.bm25_body("t", ["zebra", "word199"], ALL, 1)
    for document in range(18):
        await index.delete_document("t", UUID(int=document), through_generation=1)
        left = 190 - 10 * document
        assert len(await index.bm25_body("t", ["zebra"], ALL, 1_000)) == left
        assert [each.key for each in await index.dense("t", numbered(199).vector, ALL, 1)] == [numbered(199).key]
        assert [each.key for each in await index.bm25_body("t", ["word199"], IndexFilter(containers=("c",)), 5)] == [numbered(199).key]
    view = await index._view("t")
    assert len(view.keys) <= 20 + 20 + 10
    assert view.documents.number(UUID(int=0).bytes) is None
    assert (await index.refs("t", [numbered(195).key]))[numbered(195).key].document == UUID(int=19)
    await index.upsert("t", [numbered(300)])
    assert [each.key for each in await index.dense("t", numbered(300).vector, ALL, 1)] == [numbered(300).key]


async def test_postings_that_were_forgotten_are_read_again(index: SqliteVectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "MAX_CACHED", 100)
    await index.upsert("t", [numbered(number) for number in range(60)])
    for number in (*range(60), *range(60)):
        assert len(await index.bm25_body("t", [f"word{number}", "zebra"], ALL, 100)) == 60
        assert len(await index.bm25_context("t", [f"word{number}"], ALL, 100)) == 1


async def test_a_cancelled_caller_leaves_memory_and_file_equal(index: SqliteVectorIndex) -> None:
    await index.upsert("t", [numbered(0)])
    await index.bm25_body("t", ["zebra"], ALL, 100)
    tasks = [asyncio.ensure_future(index.upsert("t", [numbered(number)])) for number in range(1, 40)]
    for turn in range(20):
        await asyncio.wait(tasks[:1], timeout=0)
        tasks[2 * turn - 1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await index.flush()
    assert len(await index.bm25_body("t", ["zebra"], ALL, 100)) == await index.count("t")


async def test_a_failed_write_fails_alone(index: SqliteVectorIndex) -> None:
    def refuse(_driver: object) -> columns.Change:
        raise ValueError

    await index.upsert("t", [numbered(0)])
    state = await index._tenant("t")
    results = await asyncio.gather(
        index.upsert("t", [numbered(1)]), index._tenants.write(state, refuse), index.upsert("t", [numbered(2)]), return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None), ValueError, type(None)]
    assert len(await index.bm25_body("t", ["zebra"], ALL, 100)) == 3


async def test_rows_that_come_together_share_a_transaction(index: SqliteVectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    await index.upsert("t", [numbered(0)])
    await index.warm("t")
    commits, write = [], index._database.write

    async def counted(work: Callable[..., object], **how: bool) -> object:
        commits.append(how)
        return await write(work, **how)

    monkeypatch.setattr(index._database, "write", counted)
    await asyncio.gather(
        *(index.upsert("t", [numbered(number)]) for number in range(1, 30)),
        index.delete_rows("t", [numbered(3).key, numbered(99).key]),
        *(index.upsert("t", [numbered(number, text="lion")]) for number in (4, 4, 5)),
    )
    assert len(commits) <= 2
    assert len(await index.bm25_body("t", ["zebra"], ALL, 100)) == 27
    assert {each.key for each in await index.bm25_body("t", ["lion"], ALL, 100)} == {numbered(4).key, numbered(5).key}
    assert await index.count("t") == 29


@pytest.mark.parametrize(("name", "value", "error"), [("schema", "99", SchemaTooNew), ("analyser", "0", ConfigurationError)])
async def test_a_file_of_another_version_is_refused(tmp_path: Path, name: str, value: str, error: type[Exception]) -> None:
    first = opened(tmp_path)
    await first.prepare()
    await first._database.write(lambda connection: store_setting(raw(connection), name, value))
    await first.close()
    second = opened(tmp_path)
    with pytest.raises(error):
        await second.count("t")
    await second.close()


async def test_a_file_of_the_first_version_is_read_and_brought_up_to_date(tmp_path: Path) -> None:
    first = opened(tmp_path)
    await first.upsert("t", [numbered(0), replace(numbered(1), is_turn=True)])
    assert [row.is_turn for row in (await first.refs("t", [numbered(0).key, numbered(1).key])).values()] == [None, True]
    await first._database.write(lambda connection: raw(connection).execute("ALTER TABLE rows DROP COLUMN turn") and None)
    await first._database.write(lambda connection: store_setting(raw(connection), "schema", "1"))
    await first.close()
    second = opened(tmp_path)
    assert [row.is_turn for row in (await second.refs("t", [numbered(0).key, numbered(1).key])).values()] == [None, None]
    await second.upsert("t", [replace(numbered(2), is_turn=False)])
    await second.close()
    third = opened(tmp_path)
    assert (await third.refs("t", [numbered(2).key]))[numbered(2).key].is_turn is False
    await third.close()


@pytest.mark.parametrize("small_pages", [2_500, 0])
async def test_the_space_of_removed_rows_goes_back_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_pages: int) -> None:
    monkeypatch.setattr(space, "SMALL_PAGES", small_pages)
    index = opened(tmp_path)
    for start in (0, 500, 1_000, 1_500):
        texts = {number: " ".join(f"word{number}x{at}" for at in range(40)) for number in range(start, start + 500)}
        await index.upsert("t", [numbered(number, text=text) for number, text in texts.items()])
    before = await pages(index)
    await index.delete_rows("t", [numbered(number).key for number in range(1_000)])
    for start in range(1_000, 1_900, 50):
        await index.delete_rows("t", [numbered(number).key for number in range(start, start + 50)])
    await index.purge()
    free, left = await pages(index, "freelist_count"), await pages(index)
    if small_pages:
        assert left < before / 5
        assert free <= max(space.SPARE_PAGES, space.SPARE_SHARE * before)
    else:
        assert left >= before, "a large file of an earlier version is not written anew"
    assert len(await index.bm25_body("t", ["word1950x7"], ALL, 10)) == 1
    await index.close()


async def pages(index: SqliteVectorIndex, name: str = "page_count") -> int:
    return await index._read(lambda driver: int(driver.execute(f"PRAGMA {name}").fetchone()[0]))


async def test_read_back_sees_a_row_whose_postings_are_gone(index: SqliteVectorIndex) -> None:
    await index.upsert("t", [numbered(0), numbered(1)])
    await index._database.write(lambda connection: raw(connection).execute("DELETE FROM postings WHERE rowid % 2 = 1") and None)
    assert await index.missing("t", [numbered(0).key, numbered(1).key], with_vectors=False) == [numbered(0).key]


async def test_a_search_that_waits_no_longer_does_not_throw_the_loading_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(tmp_path)
    await first.upsert("t", [numbered(number) for number in range(50)])
    await first.close()
    second, loads, slow, load = opened(tmp_path), [], threading.Event(), reads.load

    def slowly(driver: sqlite3.Connection, tenant: int) -> columns.Columns:
        loads.append(tenant)
        slow.wait(20)
        return load(driver, tenant)

    monkeypatch.setattr(reads, "load", slowly)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(second.bm25_body("t", ["zebra"], ALL, 100), 0.05)
    slow.set()
    assert len(await second.bm25_body("t", ["zebra"], ALL, 100)) == 50
    assert len(loads) == 1
    await second.close()
