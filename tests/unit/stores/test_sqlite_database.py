from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from eunoe_contracts.errors import DataDirectoryLocked, StorageFull, StoreUnavailable
from eunoe_stores.sqlite.connections import raw
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.sqlite.lock import DataDirectoryLock
from eunoe_stores.sqlite.port import Database
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError


def run(sql: str, *parameters: object):
    def work(connection: Connection) -> None:
        connection.exec_driver_sql(sql, parameters).close()

    return work


def count(connection: Connection) -> int:
    return int(connection.execute(text("SELECT count(*) FROM t")).scalar_one())


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "folder" / "x.db", readers=2)
    await opened.write(run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)"))
    yield opened
    await opened.close()


def test_has_the_shape_of_the_port(database: SqliteDatabase):
    port: Database = database
    assert port is database


async def test_works_that_wait_together_share_a_commit(database: SqliteDatabase):
    commits: list[str] = []
    go = threading.Event()

    def block(connection: Connection) -> None:
        raw(connection).set_trace_callback(lambda statement: commits.append(statement) if statement == "COMMIT" else None)
        go.wait(10)

    blocker = asyncio.create_task(database.write(block))
    writes = [asyncio.create_task(database.write(run("INSERT INTO t (b) VALUES (?)", str(number)))) for number in range(50)]
    await asyncio.sleep(0)  # all are in the queue now
    go.set()
    await asyncio.gather(blocker, *writes)
    assert await database.read(count) == 50
    assert len(commits) <= 3


async def test_a_work_that_raises_is_rolled_back_alone(database: SqliteDatabase):
    def fail(connection: Connection) -> None:
        run("INSERT INTO t (b) VALUES ('lost')")(connection)
        raise ZeroDivisionError

    insert = run("INSERT INTO t (a) VALUES (1)")
    results = await asyncio.gather(
        database.write(insert), database.write(fail), database.write(insert), database.write(lambda _: "kept"), return_exceptions=True
    )
    assert [type(result).__name__ for result in results] == ["NoneType", "ZeroDivisionError", "IntegrityError", "str"]
    assert await database.read(count) == 1
    assert isinstance(results[2], IntegrityError)


async def test_a_read_sees_what_was_written_before_it_and_one_state_only(database: SqliteDatabase):
    loop = asyncio.get_running_loop()
    first, go = asyncio.Event(), threading.Event()

    def twice(connection: Connection) -> tuple[int, int]:
        before = count(connection)
        loop.call_soon_threadsafe(first.set)
        go.wait(10)
        return before, count(connection)

    await database.write(run("INSERT INTO t (b) VALUES ('a')"))
    reading = asyncio.create_task(database.read(twice))
    await first.wait()
    await database.write(run("INSERT INTO t (b) VALUES ('b')"))
    go.set()
    assert await reading == (1, 1)
    assert await database.read(count) == 2


async def test_readers_cannot_write(database: SqliteDatabase):
    with pytest.raises(StoreUnavailable):
        await database.read(run("INSERT INTO t (b) VALUES ('a')"))
    assert await database.read(count) == 0


async def test_pragmas(database: SqliteDatabase):
    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert await database.write(pragmas) == ["wal", 2, 1, 5000]
    assert (await database.read(pragmas))[2:] == [1, 5000]


async def test_a_full_disk_is_named_and_reading_goes_on(database: SqliteDatabase):
    await database.write(run("INSERT INTO t (b) VALUES ('kept')"))
    pages = await database.read(lambda connection: int(connection.exec_driver_sql("PRAGMA page_count").scalar_one()))
    await database.write(run(f"PRAGMA max_page_count = {pages + 2}"))
    big = run("INSERT INTO t (b) VALUES (?)", "x" * 100_000)
    small = run("INSERT INTO t (b) VALUES ('small')")
    results = await asyncio.gather(*(database.write(work) for work in (small, big, small)), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), StorageFull, type(None)]
    assert "xxx" not in str(results[1])
    assert await database.read(count) == 3
    await database.write(run("PRAGMA max_page_count = 1000000"))
    await database.write(big)
    assert await database.read(count) == 4


async def test_an_error_that_ends_the_transaction_does_not_take_others_along(database: SqliteDatabase):
    def lose(connection: Connection) -> None:
        raw(connection).execute("ROLLBACK")  # as SQLite itself does on some errors
        raise ZeroDivisionError

    insert = run("INSERT INTO t (b) VALUES ('a')")
    results = await asyncio.gather(*(database.write(work) for work in (insert, lose, insert)), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), ZeroDivisionError, type(None)]
    assert await database.read(count) == 2
    await database.write(insert)
    assert await database.read(count) == 3


async def test_a_failed_commit_reaches_every_caller(database: SqliteDatabase):
    await database.write(run("CREATE TABLE child (p INTEGER REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)"))
    orphan = run("INSERT INTO child VALUES (99)")
    insert = run("INSERT INTO t (b) VALUES ('a')")
    results = await asyncio.gather(database.write(insert), database.write(orphan), return_exceptions=True)
    assert isinstance(results[1], Exception)
    expected = 0 if isinstance(results[0], Exception) else 1  # the first may have been committed before the second came
    assert await database.read(count) == expected
    await database.write(insert)
    assert await database.read(count) == expected + 1


async def test_a_file_that_is_no_database(tmp_path: Path):
    path = tmp_path / "x.db"
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreUnavailable):
        SqliteDatabase(path)


async def test_close_finishes_what_waits_and_may_be_called_twice(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "x.db")
    waiting = [asyncio.create_task(database.write(run(f"CREATE TABLE t{number} (a)"))) for number in range(5)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    await asyncio.gather(*waiting)
    with pytest.raises(StoreUnavailable):
        await database.read(lambda _: None)
    assert not (tmp_path / "x.db-wal").exists()


WRITER = """
import asyncio, sys
from pathlib import Path
from eunoe_stores.sqlite.database import SqliteDatabase

async def main():
    database = SqliteDatabase(Path(sys.argv[1]))
    await database.write(lambda connection: connection.exec_driver_sql("CREATE TABLE t (a INTEGER PRIMARY KEY)").close())

    async def one(number):
        await database.write(lambda connection: connection.exec_driver_sql("INSERT INTO t VALUES (?)", (number,)).close())
        print(number, flush=True)

    for start in range(0, 1_000_000, 10):
        await asyncio.gather(*(one(number) for number in range(start, start + 10)))

asyncio.run(main())
"""


def write_until_killed(path: Path) -> list[int]:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(300)]
        process.kill()
        return acknowledged + [int(line) for line in process.stdout if line.endswith("\n")]


async def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path):
    path = tmp_path / "x.db"
    acknowledged = await asyncio.to_thread(write_until_killed, path)
    database = SqliteDatabase(path)
    stored = await database.read(lambda connection: set(connection.execute(text("SELECT a FROM t")).scalars()))
    check = await database.read(lambda connection: connection.exec_driver_sql("PRAGMA integrity_check").scalar())
    await database.close()
    assert set(acknowledged) <= stored
    assert check == "ok"


def test_lock_names_the_process_that_has_it(tmp_path: Path):
    lock = DataDirectoryLock(tmp_path / "data")
    assert lock.owner() is None
    with lock:
        lock.acquire()
        other = DataDirectoryLock(tmp_path / "data")
        assert other.owner() == os.getpid()
        with pytest.raises(DataDirectoryLocked, match=str(os.getpid())):
            other.acquire()
    assert lock.owner() is None
    with other:
        assert other.owner() == os.getpid()
    other.release()


def test_lock_goes_with_a_killed_process(tmp_path: Path):
    program = (
        "import sys, time; from pathlib import Path; from eunoe_stores.sqlite.lock import DataDirectoryLock\n"
        "lock = DataDirectoryLock(Path(sys.argv[1])); lock.acquire(); print('locked', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(DataDirectoryLocked, match=str(process.pid)):
            DataDirectoryLock(tmp_path).acquire()
        process.kill()
    with DataDirectoryLock(tmp_path) as lock:
        assert lock.owner() == os.getpid()


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path):
    lock = DataDirectoryLock(tmp_path)
    lock.acquire()
    release, wait = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(wait)
        os.read(release, 1)
        os._exit(0)
    os.close(release)
    lock.release()
    with DataDirectoryLock(tmp_path) as other:
        assert other.owner() == os.getpid()
    os.close(wait)
    os.waitpid(child, 0)


async def test_only_durable_commits_wait_for_the_disk(tmp_path: Path) -> None:
    def level(connection: Connection) -> int:
        return int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    full, normal = 2, 1  # https://sqlite.org/pragma.html#pragma_synchronous
    strict = SqliteDatabase(tmp_path / "strict.db", synchronous="FULL")
    assert [await strict.write(level), await strict.write(level, durable=False), await strict.write(level)] == [full, normal, full]
    await strict.close()
    relaxed = SqliteDatabase(tmp_path / "relaxed.db", synchronous="NORMAL")
    assert [await relaxed.write(level), await relaxed.write(level, durable=False)] == [normal, normal]
    await relaxed.close()


async def test_short_writes_share_a_commit_and_a_failing_one_is_rolled_back_alone(database: SqliteDatabase):
    def fail(connection: Connection) -> None:
        run("INSERT INTO t (b) VALUES ('lost')")(connection)
        raise ZeroDivisionError

    insert = run("INSERT INTO t (b) VALUES ('a')")
    works = [insert, fail, insert]
    results = await asyncio.gather(*(database.write(work, durable=False, quick=True) for work in works), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), ZeroDivisionError, type(None)]
    assert await database.read(count, quick=True) == 2


async def test_short_and_long_writes_in_any_order_see_each_other(database: SqliteDatabase):
    insert = run("INSERT INTO t (b) VALUES ('a')")
    for durable in (False, True):
        await asyncio.gather(*(database.write(insert, durable=durable, quick=quick) for quick in (True, False, True, False, True)))
    assert await database.read(count) == await database.read(count, quick=True) == 10


async def test_a_short_write_waits_for_a_long_one_without_stopping_the_loop(database: SqliteDatabase):
    go, begun = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def long(connection: Connection) -> None:
        run("INSERT INTO t (b) VALUES ('long')")(connection)
        loop.call_soon_threadsafe(begun.set)
        go.wait(10)

    writing = asyncio.create_task(database.write(long, durable=False))
    await begun.wait()
    short = asyncio.create_task(database.write(run("INSERT INTO t (b) VALUES ('short')"), durable=False, quick=True))
    assert await database.read(count, quick=True) == 0  # the loop goes on
    go.set()
    await asyncio.gather(writing, short)
    assert await database.read(count, quick=True) == 2


async def test_quick_reads_of_one_pass_share_a_snapshot_and_see_what_was_written_before_them(database: SqliteDatabase):
    for quick in (True, False):
        before = await database.read(count, quick=True)
        await database.write(run("INSERT INTO t (b) VALUES ('a')"), durable=False, quick=quick)
        assert await database.read(count, quick=True) == before + 1


async def test_a_durable_short_write_returns_after_a_sync_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced = 0
    original = os.fdatasync

    def counting(descriptor: int) -> None:
        nonlocal synced
        synced += 1
        original(descriptor)

    monkeypatch.setattr(os, "fdatasync", counting)
    database = SqliteDatabase(tmp_path / "x.db")
    await database.write(run("CREATE TABLE t (a)"))
    insert = run("INSERT INTO t VALUES (1)")
    await database.write(insert, durable=False, quick=True)
    assert synced == 0
    await asyncio.gather(*(database.write(insert, quick=True) for _ in range(20)))
    assert 1 <= synced <= 2
    await database.sync()
    assert synced >= 2
    await database.close()


async def test_after_a_failed_sync_nothing_is_called_durable_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.EIO, "no")

    database = SqliteDatabase(tmp_path / "x.db")
    await database.write(run("CREATE TABLE t (a)"))
    insert = run("INSERT INTO t VALUES (1)")
    original = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(StoreUnavailable):
        await database.write(insert, quick=True)
    monkeypatch.setattr(os, "fdatasync", original)  # what the disk holds is not known any more, although it answers again
    with pytest.raises(StoreUnavailable):
        await database.write(insert, quick=True)
    await database.write(insert, durable=False, quick=True)
    await database.close()


async def test_the_log_begins_anew_while_short_writes_go_on_without_a_pause(tmp_path: Path):
    path = tmp_path / "x.db"
    database = SqliteDatabase(path, synchronous="NORMAL")
    await database.write(run("CREATE TABLE t (a INTEGER PRIMARY KEY, b)"))
    filler = run("INSERT OR REPLACE INTO t VALUES (abs(random()) % 200, randomblob(40000))")
    sizes = [0]
    for _ in range(5_000):
        await database.write(filler, durable=False, quick=True)
        sizes.append(path.with_name("x.db-wal").stat().st_size)
    await database.close()
    assert max(sizes) < 2 * sizes[1_000]  # without beginning anew it is five times as long as after a thousand
