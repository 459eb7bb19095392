"""For tests on a real broker: short limits, topics of one's own, and a member that is not heard of any more."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import for_code
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy
from aiokafka.record.util import calc_crc32c

from eunoe_stream.kafka.config import KafkaSettings
from eunoe_stream.kafka.connection import make_admin
from eunoe_stream.kafka.log import KafkaLog
from eunoe_stream.kafka.member import KafkaMember

CREATE_MS = 30_000
AS_PROVISIONED = {"message.timestamp.type": "LogAppendTime", "compression.type": "uncompressed"}
HEAD, CHECKED_FROM = 61, 21
"""Bytes of a batch before its records, and where its checksum begins to count."""
RawHeader = tuple[bytes, bytes | None]


class _NameInBytes(str):
    """A header name that goes out as the bytes that it was decoded from, which the client's own writer refuses."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "surrogateescape") -> bytes:
        return super().encode(encoding, errors)


def raw_batch(key: bytes | None, value: bytes | None, headers: Sequence[RawHeader], *, count: int = 1, before: int = 0) -> Any:
    """The builder of a batch of `count` such records behind `before` plain ones."""
    named = [(_NameInBytes(name.decode(errors="surrogateescape")), content) for name, content in headers]
    batch = _DefaultRecordBatchBuilderPy(2, 0, 0, -1, -1, -1, 10_000_000)
    for number in range(before + count):
        batch.append(number, None, key, value, named if number >= before else [])
    return batch


class _Snappy:
    """A batch in a compression that this client cannot undo (one literal, which is valid)."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def size(self) -> int:
        return int(self._batch.size())

    def build(self) -> bytearray:
        plain = bytearray(self._batch.build())
        records, codec = plain[HEAD:], 2
        length = bytes([len(records) & 0x7F | 0x80, len(records) >> 7])
        whole = plain[:HEAD] + length + b"\xf4" + (len(records) - 1).to_bytes(2, "little") + records
        struct.pack_into(">i", whole, 8, len(whole) - 12)
        struct.pack_into(">h", whole, CHECKED_FROM, codec)
        struct.pack_into(">I", whole, CHECKED_FROM - 4, calc_crc32c(bytes(whole[CHECKED_FROM:])))
        return whole


async def send_raw(
    settings: KafkaSettings,
    topic: str,
    *,
    partition: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[RawHeader],
    compressed: bool = False,
) -> None:
    """One record as a stranger's client may send it; the topic's name is that on the wire."""
    producer = AIOKafkaProducer(bootstrap_servers=settings.bootstrap_servers, max_request_size=settings.max_record_bytes * 2)
    await producer.start()
    try:
        batch = producer.create_batch()
        batch.append(timestamp=None, key=b"k", value=b"")
        raw = raw_batch(key, value, headers)
        batch._builder = _Snappy(raw) if compressed else raw  # noqa: SLF001 - the public way takes text alone
        batch.close()
        await (await producer.send_batch(batch, topic, partition=partition))
    finally:
        await producer.stop()


def trial_settings(address: str, *, prefix: str, **changes: Any) -> KafkaSettings:
    """Settings for one broker on loopback: a member is dead after a second, news come within a tenth of one."""
    quick: dict[str, Any] = {
        "bootstrap_servers": address,
        "topic_prefix": prefix,
        "partitions": 4,
        "retry_partitions": 1,
        "replication": 1,
        "heartbeat_s": 0.1,
        "session_timeout_s": 1.0,
        "commit_timeout_s": 3.0,
        "drain_s": 15.0,
        "rebalance_timeout_s": 30.0,
        "request_timeout_s": 40.0,
        "max_poll_interval_s": 60.0,
        "retry_backoff_s": 0.05,
        "metadata_max_age_s": 5.0,
    }
    return KafkaSettings(_env_file=None, **(quick | changes))  # type: ignore[call-arg]  # not in the stub of pydantic-settings' plugin


@asynccontextmanager
async def admin_of(settings: KafkaSettings) -> AsyncIterator[AIOKafkaAdminClient]:
    """A connected admin client."""
    admin = make_admin(settings, client_id="trial-admin")
    try:
        await admin.start()
        yield admin
    finally:
        await admin.close()


@asynccontextmanager
async def trial_topics(settings: KafkaSettings, names: Iterable[str], *, partitions: int = 4) -> AsyncIterator[None]:
    """These topics, with the prefix; all topics with the prefix are deleted at the end."""
    async with admin_of(settings) as admin:
        asked = [NewTopic(settings.topic_prefix + each, partitions, 1, topic_configs=AS_PROVISIONED) for each in names]
        answer = await admin.create_topics(asked, timeout_ms=CREATE_MS)
        for topic, code, message in answer.topic_errors:
            if code:
                raise for_code(code)(f"{topic}: {message}")
    try:
        yield
    finally:
        async with admin_of(settings) as admin:
            mine = [each for each in await admin.list_topics() if settings.topic_prefix and each.startswith(settings.topic_prefix)]
            await admin.delete_topics(mine, timeout_ms=CREATE_MS)


def lose_heartbeats(log: KafkaLog, member: KafkaMember) -> None:
    """From now on the group does not hear of the member, and the member does not know: as with a process that is suspended or dead."""

    async def unheard() -> bool:
        return True

    log.client_of(member)._coordinator._do_heartbeat = unheard  # noqa: SLF001 - there is no other way without a second process
