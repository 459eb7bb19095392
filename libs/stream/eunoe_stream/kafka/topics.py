"""Makes the topics. Repeating it changes nothing, and what differs from the settings is told, never altered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, for_code
from eunoe_contracts import topics as names
from eunoe_contracts.errors import StoreUnavailable

from eunoe_stream.kafka.config import KafkaSettings
from eunoe_stream.kafka.connection import make_admin
from eunoe_stream.kafka.errors import translated

CREATE_MS = 60_000
SEEN_S = 30.0
LOOK_AGAIN_S = 0.2
AROUND_BYTES = 65_536
PARTITIONS, REPLICATION = "partitions", "replication"


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """How a topic should be. `name` is that on the wire."""

    name: str
    partitions: int
    replication: int
    configuration: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """An existing topic that is not as the settings say; `what` is `partitions`, `replication` or a topic setting of Kafka."""

    topic: str
    what: str
    wanted: str
    found: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.what} is {self.found}, the settings say {self.wanted}"


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What `provision` did: topics it made, topics that were there, what differs in those, and why topics could not be made."""

    created: tuple[str, ...]
    existing: tuple[str, ...]
    differences: tuple[Difference, ...]
    failed: Mapping[str, str]

    @property
    def is_complete(self) -> bool:
        """Every topic exists; differences are for the operator to judge."""
        return not self.failed


def plans(
    settings: KafkaSettings, readers: Iterable[tuple[str, str]], *, delays: Sequence[timedelta] = names.RETRY_DELAYS
) -> tuple[TopicPlan, ...]:
    """All work topics, and for each reader (topic, group) its retry tiers and its dead-letter topic."""
    pairs = list(dict.fromkeys(readers))
    work = dict.fromkeys([*names.ALL, *(topic for topic, _ in pairs)])
    retry = dict.fromkeys(names.retry_topic(topic, group, delay) for topic, group in pairs for delay in delays)
    dead = dict.fromkeys(names.dead_topic(topic, group) for topic, group in pairs)
    return (
        *(_plan(settings, each, settings.partitions, settings.retention_hours) for each in work),
        *(_plan(settings, each, settings.retry_partitions, settings.retention_hours) for each in retry),
        *(_plan(settings, each, settings.dead_partitions, settings.dead_retention_hours) for each in dead),
    )


def _plan(settings: KafkaSettings, name: str, partitions: int, retention_hours: float) -> TopicPlan:
    configuration = {
        "cleanup.policy": "delete",
        "retention.ms": str(round(retention_hours * 3_600_000)),
        # The limit of the brokers counts what is around the record, too.
        "max.message.bytes": str(settings.max_record_bytes + AROUND_BYTES),
        "min.insync.replicas": str(settings.insync),
        # The broker's time: one wrong clock can neither delete records early nor have its records refused.
        "message.timestamp.type": "LogAppendTime",
        # What a stranger's client compresses in a way that ours does not know, the brokers undo; else it would stop its partition.
        "compression.type": "uncompressed",
    }
    return TopicPlan(settings.topic_prefix + name, partitions, settings.replication, configuration)


async def provision(
    settings: KafkaSettings, readers: Iterable[tuple[str, str]], *, delays: Sequence[timedelta] = names.RETRY_DELAYS
) -> Provisioned:
    """Make the topics that are missing. `readers` are the (topic, group) of all subscriptions. Raises `StoreUnavailable`."""
    wanted = {each.name: each for each in plans(settings, readers, delays=delays)}
    admin = make_admin(settings, client_id=f"{settings.client_id}-provision")
    try:
        with translated():
            await admin.start()
            before = await _described(admin, list(wanted))
            failed, raced = await _create(admin, [plan for name, plan in wanted.items() if name not in before])
            found = await _seen(admin, [name for name in wanted if name not in failed])
            existing = [name for name in wanted if name in before or name in raced]
            differences = await _differences(admin, [wanted[name] for name in existing], found)
    finally:
        await admin.close()
    created = tuple(name for name in found if name not in existing)
    return Provisioned(created, tuple(existing), differences, failed)


async def _described(admin: AIOKafkaAdminClient, topics: Sequence[str]) -> dict[str, Any]:
    found = await admin.describe_topics(list(topics)) if topics else []
    return {each["topic"]: each for each in found if not each["error_code"]}


async def _seen(admin: AIOKafkaAdminClient, topics: Sequence[str]) -> dict[str, Any]:
    """What the brokers say of all these topics, once they have heard of the new ones."""
    async with asyncio.timeout(SEEN_S):
        while True:
            found = await _described(admin, topics)
            if len(found) == len(topics):
                return found
            await asyncio.sleep(LOOK_AGAIN_S)


async def _create(admin: AIOKafkaAdminClient, missing: Sequence[TopicPlan]) -> tuple[dict[str, str], list[str]]:
    """Why some could not be made, and which were made by somebody else meanwhile. The call itself does not raise for a topic."""
    if not missing:
        return {}, []
    asked = [
        NewTopic(
            name=each.name, num_partitions=each.partitions, replication_factor=each.replication, topic_configs=dict(each.configuration)
        )
        for each in missing
    ]
    answer = await admin.create_topics(asked, timeout_ms=CREATE_MS)
    failed: dict[str, str] = {}
    raced: list[str] = []
    for topic, code, message in answer.topic_errors:
        error = for_code(code)
        if error is TopicAlreadyExistsError:
            raced.append(topic)
        elif code:
            failed[topic] = message or error.__name__
    return failed, raced


async def _differences(admin: AIOKafkaAdminClient, wanted: Sequence[TopicPlan], described: Mapping[str, Any]) -> tuple[Difference, ...]:
    configurations = await _configurations(admin, wanted)
    found: list[Difference] = []
    for each in wanted:
        partitions = described[each.name]["partitions"]
        copies = max(len(partition["replicas"]) for partition in partitions)
        facts = {PARTITIONS: str(len(partitions)), REPLICATION: str(copies), **configurations.get(each.name, {})}
        plan = {PARTITIONS: str(each.partitions), REPLICATION: str(each.replication), **each.configuration}
        found.extend(
            Difference(each.name, what, value, facts[what]) for what, value in plan.items() if what in facts and facts[what] != value
        )
    return tuple(found)


async def _configurations(admin: AIOKafkaAdminClient, wanted: Sequence[TopicPlan]) -> dict[str, dict[str, str]]:
    if not wanted:
        return {}
    asked = [ConfigResource(ConfigResourceType.TOPIC, each.name, dict.fromkeys(each.configuration, "")) for each in wanted]
    found: dict[str, dict[str, str]] = {}
    for answer in await admin.describe_configs(asked):
        for code, _, _, name, entries in answer.resources:
            if code:
                raise StoreUnavailable(f"the settings of topic {name} cannot be read ({for_code(code).__name__})")
            found[name] = {entry[0]: entry[1] for entry in entries}
    return found
