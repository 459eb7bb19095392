"""What clients do, and what they may expect afterwards. Each item belongs to one client, so that what it did last is known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import TypeVar
from uuid import UUID

from eunoe.v1 import admin_pb2, ingest_pb2
from eunoe_contracts.errors import Conflict, DocumentNotFound, EunoeError
from eunoe_gateway.gateway import Gateway
from eunoe_telemetry.faults import HANG_S

from eunoe_standalone.testing_pipeline import OPERATOR, UNREADABLE

T = TypeVar("T")
CONTAINER = "notes"
TRIES = 12
PATIENCE_S = 20.0
PAUSE_S = 2.0
PAUSES_S = (0.1, 1.0, 4.0)
COLOURS = ("vermilion", "turquoise", "ochre", "magenta")
ITEMS_EACH = 4
UNREADABLE_AT = 7
LONG_AT = 5
SHARED_AT = 3
VERSIONED_AT = 2


class Expected(StrEnum):
    """What must be true of an item at the end. `open_question`: a call was never answered, so both are sound."""

    NOTHING = "nothing"
    PRESENT = "present"
    CANCELLED = "cancelled"
    ERASED = "erased"
    OPEN_QUESTION = "open question"


@dataclass(slots=True)
class Item:
    """One thing of one client. `version` counts the contents of a `custom_id`; `id` is what the last acknowledgement said."""

    number: int
    version: int = 0
    id: UUID | None = None
    expected: Expected = Expected.NOTHING
    earlier: set[UUID] = field(default_factory=set)
    in_flight_until: float = 0.0
    """A post that the client gave up may still be on its way in a server until then, and take effect after later calls."""

    @property
    def is_readable(self) -> bool:
        """False: it must fail."""
        return self.number % 8 != UNREADABLE_AT

    @property
    def is_versioned(self) -> bool:
        """True: new contents replace old ones."""
        return self.number % ITEMS_EACH == VERSIONED_AT

    def request(self) -> ingest_pb2.IngestRequest:
        """The post of its current version."""
        number = self.number
        if self.is_versioned:
            info = ingest_pb2.ContentInfo(container=CONTAINER, name=f"gauge{number} v{self.version}", custom_id=f"gauge{number}")
            return ingest_pb2.IngestRequest(info=info, text=f"The gauge reads reading{self.version}.\n\nSee note{number + 1} about it.")
        key = f"key{number}" if number % SHARED_AT == 0 else ""
        info = ingest_pb2.ContentInfo(container=CONTAINER, name=f"note{number}", idempotency_key=key)
        if not self.is_readable:
            return ingest_pb2.IngestRequest(info=info, text=f"{UNREADABLE} word{number}")
        text = f"The station has the mark word{number % ITEMS_EACH}.\n\nMy favourite colour is {COLOURS[number % len(COLOURS)]}."
        if number % SHARED_AT == 0:
            # Equal bytes under two names: two documents, two blobs.
            text = "My dog is called Rex.\n\nMy favourite colour is ochre."
        if number % 8 == LONG_AT:
            text += "\n\n" + "\n\n".join(f"Line {line} of note{number} tells of the cold lake." + " It was cold." * 60 for line in range(9))
        return ingest_pb2.IngestRequest(info=info, text=text)


@dataclass(slots=True)
class Client:
    """Works through `steps` random actions on its items; an unanswered call is repeated some times."""

    draw: Random
    gateway: Callable[[], Gateway]
    items: list[Item]
    with_replays: bool

    async def run(self, steps: int) -> None:
        """Until all steps are done."""
        for _ in range(steps):
            await asyncio.sleep(self.draw.random() * self.draw.choice(PAUSES_S))
            item = self.draw.choice(self.items)
            actions = {self.post: 10, self.delete: 4, self.cancel: 4, self.replay: 1 if self.with_replays else 0}
            await self.draw.choices(list(actions), list(actions.values()))[0](item)

    async def post(self, item: Item) -> None:
        """A new version, a first post or a repetition."""
        if item.is_versioned:
            if item.id is not None and item.expected is Expected.PRESENT:
                item.earlier.add(item.id)
            item.version += 1
        before, item.expected = item.expected, Expected.OPEN_QUESTION
        overtaken = item.is_versioned and _is_in_flight(item)
        answer = await self._insist(lambda: self.gateway().ingest(OPERATOR, item.request()), leaving=item)
        if answer is None:
            return
        item.id = UUID(answer.acceptance.id)
        item.expected = Expected.OPEN_QUESTION if overtaken else Expected.PRESENT
        if before is Expected.ERASED:
            item.earlier.clear()

    async def delete(self, item: Item) -> None:
        """Erase it, if it is known."""
        if item.id is None:
            return
        before, item.expected = item.expected, Expected.OPEN_QUESTION
        document = str(item.id)
        try:
            answer = await self._insist(lambda: self.gateway().delete_document(OPERATOR, document))
        except DocumentNotFound:
            answer = ingest_pb2.DeleteDocumentResponse()
        # With versions an earlier one may have come to light again; only what stands alone is sure to be gone.
        if answer is not None and not item.earlier and before is not Expected.OPEN_QUESTION and not _is_in_flight(item):
            item.expected = Expected.ERASED

    async def cancel(self, item: Item) -> None:
        """Cancel it, if it has not ended yet."""
        if item.id is None or item.expected is not Expected.PRESENT or item.is_versioned:
            return
        item.expected = Expected.OPEN_QUESTION
        document = str(item.id)
        try:
            answer = await self._insist(lambda: self.gateway().cancel_document(OPERATOR, document))
        except Conflict:
            item.expected = Expected.PRESENT
        except DocumentNotFound as error:
            raise AssertionError(f"item {item.number} was accepted and is not there") from error
        else:
            if answer is not None and not _is_in_flight(item):
                item.expected = Expected.CANCELLED

    async def replay(self, _: Item) -> None:
        """Replay all dead letters."""
        await self._insist(lambda: self.gateway().replay(OPERATOR, admin_pb2.ReplayRequest()))

    async def _insist(self, call: Callable[[], Awaitable[T]], *, leaving: Item | None = None) -> T | None:
        """The answer; None when none came. A client may lose patience and hang up; `leaving` is what it posts then."""
        for _ in range(TRIES):
            patience_s = self.draw.choice((PATIENCE_S, PATIENCE_S, 0.01)) if leaving is not None else PATIENCE_S
            try:
                async with asyncio.timeout(patience_s):
                    return await call()
            except (Conflict, DocumentNotFound):
                raise
            except (TimeoutError, EunoeError) as error:
                if leaving is not None and isinstance(error, TimeoutError):
                    leaving.in_flight_until = asyncio.get_running_loop().time() + 2 * HANG_S
                await asyncio.sleep(self.draw.random() * PAUSE_S)
        return None


def _is_in_flight(item: Item) -> bool:
    return asyncio.get_running_loop().time() < item.in_flight_until
