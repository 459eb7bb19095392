"""Which partitions a member of a group should have, and what it does next to get there. Pure functions."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from eunoe_stream.log import TopicPartition


def partition_of(key: str, partitions: int) -> int:
    """The partition of a key: CRC-32 (ISO 3309) modulo the number; the same in every process and version."""
    return zlib.crc32(key.encode()) % partitions


@dataclass(frozen=True, slots=True)
class Lease:
    """A partition lent to a member until `expires` (seconds since 1970)."""

    member: str
    expires: float


def is_live(expires: float, *, now: float, lease_s: float) -> bool:
    """False when it ran out, and also when it ends absurdly late: then it was written before the clock was set back."""
    return now < expires <= now + 2 * lease_s


def fair_share(member: str, topics: Mapping[str, int], members: Mapping[str, frozenset[str]]) -> frozenset[TopicPartition]:
    """The partitions of `topics` (name to number of partitions) that this member should have.

    `members` maps each live member to the topics it reads. All members compute the same answer from the same rows.
    """
    share: set[TopicPartition] = set()
    for topic, partitions in topics.items():
        readers = sorted(each for each, read in members.items() if topic in read)
        share.update(TopicPartition(topic, p) for p in range(partitions) if readers and readers[p % len(readers)] == member)
    return frozenset(share)


@dataclass(frozen=True, slots=True)
class Step:
    """What a member does at a heartbeat: keep and renew, take, and give up after draining."""

    keep: frozenset[TopicPartition]
    take: frozenset[TopicPartition]
    surplus: frozenset[TopicPartition]


def next_step(member: str, share: frozenset[TopicPartition], leases: Mapping[TopicPartition, Lease], *, now: float, lease_s: float) -> Step:
    """The step towards the fair share. A lease of one's own counts although it ran out, as long as nobody took it."""
    keep = frozenset(each for each, lease in leases.items() if lease.member == member)
    held = frozenset(each for each, lease in leases.items() if is_live(lease.expires, now=now, lease_s=lease_s))
    return Step(keep, share - keep - held, keep - share)
