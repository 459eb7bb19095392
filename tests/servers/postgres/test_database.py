"""`PostgresDatabase` on a real server: transactions, running again, limits, what is refused at the start."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback

import pytest
from eunoe_contracts.errors import ConfigurationError, InternalError, StoreUnavailable
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stores.postgres.database import PostgresDatabase
from pydantic import SecretStr
from servers.ports import free_ports
from servers.postgres import Postgres
from sqlalchemy import Connection, text

pytestmark = pytest.mark.servers
SECRET = "zebra"


@pytest.fixture(autouse=True)
async def _table(database: PostgresDatabase) -> None:
    await run(database, "CREATE TABLE numbers (id int PRIMARY KEY, value int NOT NULL, word text UNIQUE)")
    await run(database, "INSERT INTO numbers VALUES (1, 0), (2, 0)")


async def run(database: PostgresDatabase, statement: str) -> None:
    await database.write(lambda connection: connection.execute(text(statement)).close())


def value(connection: Connection, number: int = 1) -> int:
    return int(connection.execute(text("SELECT value FROM numbers WHERE id = :id"), {"id": number}).scalar_one())


def add(connection: Connection, number: int) -> None:
    connection.execute(text("UPDATE numbers SET value = value + 1 WHERE id = :id"), {"id": number})


async def test_a_work_that_raises_is_rolled_back_and_its_error_comes_as_it_is(database: PostgresDatabase):
    def work(connection: Connection) -> None:
        add(connection, 1)
        raise KeyError(1)

    with pytest.raises(KeyError):
        await database.write(work)
    assert await database.read(value) == 0


async def test_a_read_sees_one_state(database: PostgresDatabase):
    first, written = threading.Event(), threading.Event()

    def work(connection: Connection) -> list[int]:
        before = value(connection)
        first.set()
        assert written.wait(10)
        return [before, value(connection)]

    reading = asyncio.create_task(database.read(work))
    await asyncio.to_thread(first.wait, 10)
    await database.write(lambda connection: add(connection, 1))
    written.set()
    assert await reading == [0, 0]
    assert await database.read(value) == 1


async def test_two_that_wait_for_each_other_both_succeed(database: PostgresDatabase, server: Postgres):
    meeting = threading.Barrier(2)
    runs: list[int] = []

    def work(connection: Connection, first: int, second: int) -> None:
        runs.append(first)
        add(connection, first)
        if len(runs) <= 2:
            meeting.wait(10)
        add(connection, second)

    await asyncio.gather(
        database.write(lambda connection: work(connection, 1, 2)),
        database.write(lambda connection: work(connection, 2, 1)),
    )
    assert len(runs) == 3
    assert await database.read(lambda connection: (value(connection, 1), value(connection, 2))) == (2, 2)


async def test_a_row_that_another_one_inserts_meanwhile_is_found_when_the_work_runs_again(database: PostgresDatabase):
    looked = threading.Barrier(2)
    runs: list[str] = []

    def work(connection: Connection, name: str) -> bool:
        runs.append(name)
        is_there = connection.execute(text("SELECT 1 FROM numbers WHERE id = 7")).first() is not None
        if len(runs) <= 2:
            looked.wait(10)
        if is_there:
            add(connection, 7)
        else:
            connection.execute(text("INSERT INTO numbers VALUES (7, 1)"))
        return is_there

    results = await asyncio.gather(*(database.write(lambda connection, name=name: work(connection, name)) for name in "ab"))
    assert sorted(results) == [False, True]
    assert await database.read(lambda connection: value(connection, 7)) == 2


@pytest.mark.parametrize(
    ("statement", "state"),
    [
        ("INSERT INTO numbers VALUES (3, 0, :word), (4, 0, :word)", "23505, numbers_word_key"),
        ("INSERT INTO numbers VALUES (3, NULL, :word)", "23502"),
        ("SELECT CAST(:word AS int)", "22P02"),
        ("SELECT CAST(:word || '{' AS json)", "22P02"),
        ("SELECT :word || :nul", "DataError"),
        ("SELECT nothing FROM nowhere WHERE x = :word", "42P01"),
    ],
)
async def test_what_never_fits_is_refused_without_telling_content(database: PostgresDatabase, statement: str, state: str):
    parameters = {"word": SECRET} | ({"nul": "\0"} if ":nul" in statement else {})
    with pytest.raises(InternalError, match=state) as caught:
        await database.write(lambda connection: connection.execute(text(statement), parameters).close())
    assert SECRET not in "".join(traceback.format_exception(caught.value))


async def test_a_statement_has_a_time_limit(settings: PostgresSettings):
    async with open_postgres(settings.model_copy(update={"statement_timeout_s": 0.2})) as database:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="57014"):
            await run(database, "SELECT pg_sleep(20)")
        assert time.monotonic() - began < 5
        assert await database.read(value) == 0


async def test_a_wait_for_a_lock_has_a_time_limit(database: PostgresDatabase, settings: PostgresSettings):
    locked, enough = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        add(connection, 1)
        locked.set()
        assert enough.wait(20)

    holding = asyncio.create_task(database.write(hold))
    await asyncio.to_thread(locked.wait, 10)
    async with open_postgres(settings.model_copy(update={"lock_timeout_s": 0.2})) as impatient:
        with pytest.raises(StoreUnavailable, match="55P03"):
            await impatient.write(lambda connection: add(connection, 1))
        assert await impatient.read(value) == 0, "readers wait for nobody"
    enough.set()
    await holding
    assert await database.read(value) == 1


async def test_a_frozen_server_costs_a_call_its_time_limit_and_no_more(settings: PostgresSettings, server: Postgres):
    async with open_postgres(settings.model_copy(update={"call_timeout_s": 1.0, "pool_size": 2})) as database:
        assert await database.read(value) == 0
        server.freeze()
        began = time.monotonic()
        results = await asyncio.gather(*(database.read(value) for _ in range(6)), return_exceptions=True)
        assert {type(each) for each in results} == {StoreUnavailable}
        assert time.monotonic() - began < 3
        server.thaw()
        await answers(database)
    # Closing did not wait for threads that hang.


async def answers(database: PostgresDatabase, *, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while True:
        try:
            await database.read(value)
        except StoreUnavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        else:
            return


async def test_connections_that_died_in_the_pool_are_replaced(settings: PostgresSettings, server: Postgres):
    async with open_postgres(settings) as database:
        await asyncio.gather(*(database.read(value) for _ in range(20)))
        server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'eunoe'")
        await database.write(lambda connection: add(connection, 1))
        assert await asyncio.gather(*(database.read(value) for _ in range(20))) == [1] * 20


async def test_a_connection_lost_before_the_commit_runs_the_work_again(database: PostgresDatabase):
    runs = []

    def work(connection: Connection) -> None:
        add(connection, 1)
        runs.append(1)
        if len(runs) == 1:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    await database.write(work)
    assert (len(runs), await database.read(value)) == (2, 1)


async def test_a_connection_lost_in_the_commit_is_an_unknown_outcome(database: PostgresDatabase):
    body = "BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END"
    await run(database, f"CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS '{body}'")
    await run(
        database,
        "CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON numbers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()",
    )
    runs = []

    def work(connection: Connection) -> None:
        runs.append(1)
        add(connection, 1)

    with pytest.raises(StoreUnavailable, match="whether it has committed"):
        await database.write(work)
    assert len(runs) == 1
    assert await database.read(value) == 0


async def test_more_callers_than_connections_wait_in_line(settings: PostgresSettings):
    async with open_postgres(settings.model_copy(update={"pool_size": 2})) as database:
        counts = await asyncio.gather(*(database.read(_connections) for _ in range(60)))
    assert max(counts) <= 2 + 8, "its own, and those of the fixture"


def _connections(connection: Connection) -> int:
    statement = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'eunoe'")
    return int(connection.execute(statement).scalar_one())


async def test_a_closed_database_says_so(settings: PostgresSettings):
    async with open_postgres(settings) as database:
        writing = asyncio.create_task(database.write(lambda connection: add(connection, 1)))
        await asyncio.sleep(0)
    await writing
    await database.close()
    for call in (database.read(value), database.write(value), database.sync()):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call


async def test_nobody_listening(settings: PostgresSettings):
    (port,) = free_ports(1)
    with pytest.raises(StoreUnavailable, match=f"no connection to PostgreSQL.*{port}"):
        async with open_postgres(settings.model_copy(update={"port": port})):
            pass


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"password": SecretStr("wrong")}, StoreUnavailable, "password authentication failed"),
        ({"password": SecretStr("")}, ConfigurationError, "EUNOE_POSTGRES__PASSWORD"),
        ({"database": "absent"}, StoreUnavailable, "absent"),
        ({"url": SecretStr("no url")}, ConfigurationError, "EUNOE_POSTGRES__URL"),
        ({"search_path": "absent"}, ConfigurationError, "EUNOE_POSTGRES__SEARCH_PATH"),
        ({"url": SecretStr("postgresql:///?options=-csynchronous_commit%3Doff")}, ConfigurationError, "synchronous_commit"),
        ({"tls": "require"}, StoreUnavailable, "SSL"),
    ],
)
async def test_what_cannot_be_right_is_refused_at_the_start(
    settings: PostgresSettings, changes: dict[str, object], error: type[Exception], message: str
):
    with pytest.raises(error, match=message) as caught:
        async with open_postgres(settings.model_copy(update=changes)):
            pass
    assert "eunoe-of-the-tests" not in str(caught.value)


async def test_another_encoding_is_refused(settings: PostgresSettings, server: Postgres):
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(ConfigurationError, match="LATIN1"):
            async with open_postgres(settings.model_copy(update={"database": "latin", "search_path": ""})):
                pass
    finally:
        server.sql("DROP DATABASE latin WITH (FORCE)")


async def test_a_url_says_it_all(settings: PostgresSettings, server: Postgres):
    found = server.settings()
    address = f"{found['EUNOE_POSTGRES__HOST']}:{found['EUNOE_POSTGRES__PORT']}/{found['EUNOE_POSTGRES__DATABASE']}"
    url = f"postgresql://{found['EUNOE_POSTGRES__USER']}:{found['EUNOE_POSTGRES__PASSWORD']}@{address}"
    elsewhere = PostgresSettings(url=SecretStr(url), host="absent.invalid", port=1, search_path=settings.search_path)
    async with open_postgres(elsewhere) as database:
        assert await database.read(value) == 0
    assert found["EUNOE_POSTGRES__PASSWORD"] not in repr(elsewhere)
