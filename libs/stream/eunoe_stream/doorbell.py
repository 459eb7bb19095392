"""Wakes waiting members of this process, so that a publish is seen at once and not at the next poll."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol


class Waiting(Protocol):
    """A member that can be woken."""

    @property
    def group(self) -> str:
        """Its consumer group."""
        ...

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics it reads."""
        ...

    def wake(self) -> None:
        """Look for records now."""
        ...

    def regroup(self) -> None:
        """Look at the members and leases of the group now."""
        ...


class Doorbell:
    """Who waits for which topic in this process. They are woken in the order they came, so that a simulation can be repeated."""

    def __init__(self) -> None:
        self._members: dict[Waiting, None] = {}
        self._by_topic: dict[str, dict[Waiting, None]] = defaultdict(dict)

    def add(self, member: Waiting) -> None:
        """Wake this member from now on. May be called twice."""
        self._members[member] = None
        for topic in member.topics:
            self._by_topic[topic][member] = None

    def remove(self, member: Waiting) -> None:
        """Forget the member. May be called twice."""
        self._members.pop(member, None)
        for topic in member.topics:
            self._by_topic[topic].pop(member, None)

    def ring(self, topics: Iterable[str]) -> None:
        """Records were appended to these topics."""
        for topic in topics:
            for member in self._by_topic.get(topic, ()):
                member.wake()

    def regroup(self, group: str | None = None, *, but: Waiting | None = None) -> None:
        """The members or leases of the group (None: of all groups) changed."""
        for member in self._members:
            if member is not but and group in {None, member.group}:
                member.regroup()
