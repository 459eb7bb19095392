"""Dead letters: what was given up, why, and putting it back to work."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from eunoe.v1 import admin_pb2
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import DeadLetterNotFound, PermissionDenied, StaleGeneration
from eunoe_contracts.events import Event
from eunoe_contracts.tenancy import Principal, Scope, checked_tenant
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DeadLetterQuery, DeadLetterRow, Page, Reopened

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
        """Newest first: of the caller's tenant; for the local operator of the one named, or of all."""
        tenant = _reach(who, request.tenant)
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
        """Reopen the stages of the letters that match, newest first and at most `limit` of them, and publish their input again.

        A dry run only counts. A second replay finds nothing. Letters whose document moved on (a newer generation, erased) are
        matched, not replayed; naming one such letter raises `StaleGeneration`. They go when the newer generation is done.
        """
        tenant = _reach(who, request.tenant)
        limit = fields.page(request.limit, 0, default=fields.MAX_LIMIT).limit
        named = await self._named(tenant, request.ids)
        query = _query(request)
        first, total = (named, len(named)) if request.ids else await self._catalogue.dead_letters(tenant, query, Page(limit))
        if request.dry_run:
            return admin_pb2.ReplayResponse(matched=total, ids=[str(each.id) for each in first], dry_run=True)
        if request.ids:
            reopened = await self._reopen(named, skip_stale=len(request.ids) > 1)
        else:
            reopened = await self._reopen_matching(tenant, query, limit)
        by_document = {(each.tenant, each.document): each for each in reopened.values()}
        events = [event for each in by_document.values() for event in await self._inputs(each)]
        if events:
            await self._publisher.publish(events)
        return admin_pb2.ReplayResponse(matched=total, replayed=len(reopened), ids=[str(each) for each in reopened])

    async def _named(self, tenant: str | None, ids: Sequence[str]) -> Sequence[DeadLetterRow]:
        """The letters with these ids that were not replayed. Raises `DeadLetterNotFound`."""
        found: list[DeadLetterRow] = []
        for each in dict.fromkeys(ids):
            named = DeadLetterQuery(id=fields.identifier(each, "ids"), include_replayed=True)
            rows, _ = await self._catalogue.dead_letters(tenant, named, Page(1))
            if not rows:
                raise DeadLetterNotFound
            found.extend(row for row in rows if row.replayed_at is None)
        return found

    async def _reopen_matching(self, tenant: str | None, query: DeadLetterQuery, limit: int) -> dict[UUID, Reopened]:
        """Reopen up to `limit` letters. Those that cannot be stay in the list, so the next page begins behind them."""
        reopened: dict[UUID, Reopened] = {}
        passed = 0
        while len(reopened) < limit:
            page = Page(limit - len(reopened), passed)
            letters, _ = await self._catalogue.dead_letters(tenant, query, page)
            found = await self._reopen(letters, skip_stale=True)
            reopened |= found
            passed += len(letters) - len(found)
            if len(letters) < page.limit:
                break
        return reopened

    async def _reopen(self, letters: Sequence[DeadLetterRow], *, skip_stale: bool) -> dict[UUID, Reopened]:
        found: dict[UUID, Reopened] = {}
        for letter in letters:
            try:
                reopened = await self._catalogue.reopen(letter.tenant, letter.id, now=self._clock.now())
            except (StaleGeneration, DeadLetterNotFound):
                if not skip_stale:
                    raise
                continue
            if reopened is not None:
                found[letter.id] = reopened
        return found

    async def _inputs(self, reopened: Reopened) -> Sequence[Event]:
        # Not only of the stage that failed: a reopened document has other stages to repeat.
        row = await self._catalogue.document(reopened.tenant, reopened.document)
        if row is None or row.generation != reopened.generation:
            return []
        return await next_inputs(row, catalogue=self._catalogue, salt=reopened.salt)


def _query(request: admin_pb2.ReplayRequest) -> DeadLetterQuery:
    return DeadLetterQuery(
        code=fields.line(request.code, "code"),
        document=fields.identifier(request.document_id, "document_id") if request.document_id else None,
        since=fields.time(request.since, "since") if request.HasField("since") else None,
        until=fields.time(request.until, "until") if request.HasField("until") else None,
    )


def _reach(who: Principal, named: str) -> str | None:
    """Whose letters: of the caller's tenant, or of the one that the local operator names, who reaches all (None) without a name."""
    tenant = require(who, Scope.ADMIN)
    if not who.local_operator:
        if named and named != tenant:
            raise PermissionDenied("Only the operator may name another tenant.")
        return tenant
    return checked_tenant(named) if named else None
