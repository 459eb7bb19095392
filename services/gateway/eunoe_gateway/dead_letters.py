"""Dead letters: what was given up, why, and putting it back to work."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe.v1 import admin_pb2
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import DeadLetterNotFound, StaleGeneration
from eunoe_contracts.events import Event
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DeadLetterQuery, DeadLetterRow, Reopened

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require
from eunoe_gateway.documents.inputs import next_inputs
from eunoe_gateway.publishing import Publisher


class DeadLetters:
    """Calls on dead letters, for operators."""

    def __init__(self, catalogue: Catalogue, *, publisher: Publisher, clock: Clock) -> None:
        self._catalogue = catalogue
        self._publisher = publisher
        self._clock = clock

    async def list(self, who: Principal, request: admin_pb2.DeadLettersRequest) -> admin_pb2.DeadLettersResponse:
        """Newest first: of the caller's tenant, of all for the local operator."""
        tenant = _reach(who)
        query = DeadLetterQuery(
            id=fields.identifier(request.id) if request.id else None,
            code=fields.line(request.code, "code"),
            document=fields.identifier(request.document_id, "document_id") if request.document_id else None,
            since=fields.time(request.since, "since") if request.HasField("since") else None,
            until=fields.time(request.until, "until") if request.HasField("until") else None,
            include_replayed=request.include_replayed,
        )
        rows, total = await self._catalogue.dead_letters(tenant, query, fields.page(request.limit, request.offset))
        return admin_pb2.DeadLettersResponse(dead_letters=[protobuf.dead_letter(each) for each in rows], total=total)

    async def replay(self, who: Principal, request: admin_pb2.ReplayRequest) -> admin_pb2.ReplayResponse:
        """Reopen the stages of the letters that match and publish their input again. A dry run only counts.

        A second replay finds nothing. Letters whose document moved on (a newer generation, erased) are matched, not replayed;
        naming one such letter raises `StaleGeneration`.
        """
        letters = await self._matching(who, request)
        replayed: list[str] = []
        reopenings: dict[tuple[str, UUID], Reopened] = {}
        for letter in [] if request.dry_run else letters:
            try:
                reopened = await self._catalogue.reopen(letter.tenant, letter.id, now=self._clock.now())
            except (StaleGeneration, DeadLetterNotFound):
                if len(request.ids) == 1:
                    raise
                continue
            if reopened is not None:
                replayed.append(str(letter.id))
                reopenings[reopened.tenant, reopened.document] = reopened
        events = [event for each in reopenings.values() for event in await self._inputs(each)]
        if events:
            await self._publisher.publish(events)
        return admin_pb2.ReplayResponse(
            matched=len(letters),
            replayed=len(replayed),
            ids=[str(each.id) for each in letters] if request.dry_run else replayed,
            dry_run=request.dry_run,
        )

    async def _matching(self, who: Principal, request: admin_pb2.ReplayRequest) -> Sequence[DeadLetterRow]:
        tenant = _reach(who)
        window = fields.page(request.limit, 0, default=fields.MAX_LIMIT)
        query = DeadLetterQuery(
            code=fields.line(request.code, "code"),
            document=fields.identifier(request.document_id, "document_id") if request.document_id else None,
            since=fields.time(request.since, "since") if request.HasField("since") else None,
            until=fields.time(request.until, "until") if request.HasField("until") else None,
        )
        if not request.ids:
            return (await self._catalogue.dead_letters(tenant, query, window))[0]
        found: list[DeadLetterRow] = []
        for each in dict.fromkeys(request.ids):
            named = DeadLetterQuery(id=fields.identifier(each, "ids"), include_replayed=True)
            rows, _ = await self._catalogue.dead_letters(tenant, named, window)
            if not rows:
                raise DeadLetterNotFound
            found.extend(row for row in rows if row.replayed_at is None)
        return found

    async def _inputs(self, reopened: Reopened) -> Sequence[Event]:
        # Not only of the stage that failed: a reopened document has other stages to repeat.
        row = await self._catalogue.document(reopened.tenant, reopened.document)
        if row is None or row.generation != reopened.generation:
            return []
        return await next_inputs(row, catalogue=self._catalogue, salt=reopened.salt)


def _reach(who: Principal) -> str | None:
    tenant = require(who, Scope.ADMIN)
    return None if who.local_operator else tenant
