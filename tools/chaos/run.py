"""One run: servers that are there already, members, traffic, trouble, and the verdict."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from eunoe_contracts import topics
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stores.postgres.database import PostgresDatabase
from eunoe_stream.kafka import KafkaLog, KafkaSettings, open_kafka_log, provision
from eunoe_telemetry.clock import RandomIds, SystemClock
from servers.server import Server

from chaos.evidence import collect, lag_of, states_of
from chaos.judge import findings, table
from chaos.members import Members
from chaos.plan import DELAYS, GROUP, Form
from chaos.traffic import Traffic
from chaos.trouble import Trouble

TELL_EVERY_S = 10.0
LOOK_S = 0.5
GIVE_UP_S = 15.0
"""With everything committed and documents open, nothing will come any more."""
STALE_S = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """`findings` is empty after a good run."""

    findings: list[str]
    table: Mapping[str, str]


async def run(form: Form, kafka: Server, postgres: PostgresSettings, folder: Path, *, prefix: str, tell: Callable[[str], None]) -> Outcome:
    """`postgres` leads to an empty schema; the servers are left running."""
    environment = {**kafka.settings(), **form.kafka(prefix), **_variables(postgres)}
    settings = _kafka_settings(environment)
    await provision(settings, [(topics.DOCUMENT_ACCEPTED, GROUP)], delays=DELAYS)
    async with open_postgres(postgres) as database, open_kafka_log(settings, clock=SystemClock(), ids=RandomIds()) as log:
        await migrate(database)
        traffic = Traffic(form, settings, log, SqlCatalogue(database))
        members = Members(form, folder, environment)
        began = time.monotonic()
        members.start()
        try:
            await members.all_ready()
            tell(f"members are ready after {time.monotonic() - began:.1f} s; seed {form.seed}")
            trouble = Trouble(form, members, kafka, until=time.monotonic() + form.seconds, tell=tell)
            await _work(form, traffic, trouble, database, tell)
            took_s = await _settled(form, traffic, log, database)
            tell(f"settled after {took_s:.1f} s")
            ready = await members.all_ready()
            await members.end()
        finally:
            await members.abandon()
        evidence = await collect(log, database, folder, sent=traffic.sent, stops=members.stops, by_themselves=members.by_themselves)
    found = findings(evidence, stop_limit_s=form.stop_limit_s)
    if not ready or len(members.stops) < len(members.slots):
        found.append("not all members were there at the end")
    figures = {
        "seconds, and until all was committed": f"{form.seconds:.0f}, {took_s:.1f}",
        "members killed, stopped": f"{members.kills}, {trouble.terms}",
        "broker": ", ".join(trouble.broker_strikes) or "left alone",
        "sent again": str(traffic.again),
    }
    return Outcome(found, {**figures, **table(evidence)})


async def _work(form: Form, traffic: Traffic, trouble: Trouble, database: PostgresDatabase, tell: Callable[[str], None]) -> None:
    telling = asyncio.create_task(_progress(traffic, database, tell))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(traffic.send(time.monotonic() + form.seconds))
            group.create_task(trouble.strike_members())
            group.create_task(trouble.strike_broker())
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _progress(traffic: Traffic, database: PostgresDatabase, tell: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(TELL_EVERY_S)
        states = await states_of(database)
        ended = sum(1 for each in states.values() if each in {"finished", "exhausted"})
        tell(f"{len(traffic.sent)} sent, {ended} documents ended")


async def _settled(form: Form, traffic: Traffic, log: KafkaLog, database: PostgresDatabase) -> float:
    """Seconds until all is committed and every document has ended; gives up when nothing moves, or after the form's time."""
    began = time.monotonic()
    wanted = {number for number, kind in traffic.sent.items() if kind.is_decodable}
    idle_since = 0.0
    while (now := time.monotonic()) - began < form.settle_s:
        await asyncio.sleep(LOOK_S)
        if any((await lag_of(log)).values()):
            idle_since = 0.0
            continue
        states = await states_of(database)
        if all(states.get(number) in {"finished", "exhausted"} for number in wanted):
            break
        idle_since = idle_since or now
        if now - idle_since > GIVE_UP_S + form.lease_s:
            break
    return time.monotonic() - began


def _variables(settings: PostgresSettings) -> dict[str, str]:
    names = ("host", "port", "database", "user", "search_path")
    given = {f"EUNOE_POSTGRES__{name.upper()}": str(getattr(settings, name)) for name in names}
    return {**given, "EUNOE_POSTGRES__PASSWORD": settings.password.get_secret_value()}


def _kafka_settings(environment: Mapping[str, str]) -> KafkaSettings:
    prefix = "EUNOE_KAFKA__"
    return KafkaSettings.model_validate(
        {name.removeprefix(prefix).lower(): value for name, value in environment.items() if name.startswith(prefix)}
    )
