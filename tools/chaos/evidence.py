"""What is there afterwards: in the ledger, on the topics, and what the processes noted."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from eunoe_contracts import topics
from eunoe_contracts.events import HEADER_CODE, HEADER_EVENT_ID, HEADER_ORIGIN
from eunoe_stores.catalogue.tables import dead_letters, stages, units
from eunoe_stores.postgres.database import PostgresDatabase
from eunoe_stream.kafka import KafkaLog
from eunoe_stream.log import Delivery
from sqlalchemy import func, select

from chaos.members import Stopped
from chaos.plan import GROUP, TOPICS, Kind

READ_S = 60.0
NUMBER = re.compile(rb"undecodable (\d+)")


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter. `number` is 0 for one of the catalogue that names no document; `place` is where its record was read."""

    number: int
    code: str
    message: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """By the numbers of the records. `outputs` has every record of the output topic, with the id of its event."""

    sent: Mapping[int, Kind]
    states: Mapping[int, str]
    units: Mapping[int, int]
    letters: Sequence[Letter]
    dead: Sequence[Letter]
    outputs: Sequence[tuple[int, str]]
    lag: Mapping[str, int]
    runs: Mapping[int, int]
    stops: Sequence[Stopped]
    by_themselves: Sequence[int] = ()


async def lag_of(log: KafkaLog) -> dict[str, int]:
    """What the members have not committed."""
    return {topic: await log.lag(topic, GROUP) for topic in TOPICS}


async def states_of(database: PostgresDatabase) -> dict[int, str]:
    """The ledger's rows."""
    rows = await database.read(lambda connection: connection.execute(select(stages.c.document, stages.c.state)).all())
    return {UUID(str(document)).int: str(state) for document, state in rows}


async def collect(
    log: KafkaLog,
    database: PostgresDatabase,
    folder: Path,
    *,
    sent: Mapping[int, Kind],
    stops: Sequence[Stopped],
    by_themselves: Sequence[int],
) -> Evidence:
    """After everything has stopped."""
    counted = select(units.c.document, func.count()).group_by(units.c.document)
    written = await database.read(lambda connection: connection.execute(counted).all())
    lettered = select(dead_letters.c.document, dead_letters.c.code, dead_letters.c.message)
    letters = await database.read(lambda connection: connection.execute(lettered).all())
    return Evidence(
        sent=sent,
        states=await states_of(database),
        units={UUID(str(document)).int: int(count) for document, count in written},
        letters=[Letter(UUID(str(document)).int if document else 0, str(code), str(message)) for document, code, message in letters],
        dead=[_letter(each) for each in await _everything(log, topics.dead_topic(topics.DOCUMENT_ACCEPTED, GROUP))],
        outputs=[
            (UUID(each.record.key.rpartition("/")[2]).int, each.record.headers[HEADER_EVENT_ID])
            for each in await _everything(log, topics.DOCUMENT_EXTRACTED)
        ],
        lag=await lag_of(log),
        runs=Counter(map(int, (folder / "runs").read_text(encoding="ascii").split())),
        stops=stops,
        by_themselves=by_themselves,
    )


def _letter(delivery: Delivery) -> Letter:
    record = delivery.record
    raw = NUMBER.search(record.value)
    number = int(raw[1]) if raw else UUID(record.key.rpartition("/")[2]).int
    return Letter(number, record.headers.get(HEADER_CODE, ""), place=record.headers.get(HEADER_ORIGIN, ""))


async def _everything(log: KafkaLog, topic: str) -> list[Delivery]:
    consumer = await log.consumer("judge", [topic])
    found: list[Delivery] = []
    wanted, give_up = await log.lag(topic, "judge"), time.monotonic() + READ_S
    while len(found) < wanted and time.monotonic() < give_up:
        found += await consumer.fetch(500, 1)
    await consumer.close()
    return found
