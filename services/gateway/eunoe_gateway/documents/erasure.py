"""Erasure: the fence first, so that every answer forgets at once; then the stores; then the proof."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from eunoe.v1 import container_pb2, events_pb2, ingest_pb2, types_pb2
from eunoe_contracts import topics
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import ConfirmationRequired, Conflict, ContainerNotFound, DocumentNotFound
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import Principal, Scope, checked_container
from eunoe_stores.catalogue.rows import Erasure

from eunoe_gateway import fields, protobuf, tracing
from eunoe_gateway.access import require
from eunoe_gateway.documents.sinks import Sinks, remove_generations, withdraw
from eunoe_gateway.publishing import Publisher


def erased_event(erasure: Erasure, *, trace: str) -> Event:
    """Tells every stage to remove its rows."""
    body = events_pb2.DocumentErased(tenant=erasure.tenant, document_id=str(erasure.document), generation=erasure.generation)
    return document_event(topics.DOCUMENT_ERASED, body, trace=trace)


async def remove_again(erasure: Erasure, *, sinks: Sinks) -> bool:
    """Remove what a late writer may have left. True when nothing was left, so that the erasure can be proved.

    To be called after the longest deadline, so that no writer from before the fence is alive.
    """
    left = await remove_generations(erasure.tenant, erasure.document, through_generation=erasure.generation, sinks=sinks)
    await sinks.catalogue.drop_through(erasure.tenant, erasure.document, through_generation=erasure.generation)
    return not left


async def prove(erasure: Erasure, *, sinks: Sinks, now: datetime) -> None:
    """Write the proof, when nothing was left and the files were purged since. May be called twice."""
    # The proof must not outlive a loss of power that the removals did not.
    await sinks.vectors.flush()
    await sinks.catalogue.prove_erasure(erasure.tenant, erasure.document, erasure.generation, now=now)


class Erasing:
    """Calls that remove documents."""

    def __init__(self, sinks: Sinks, *, publisher: Publisher, clock: Clock) -> None:
        self._sinks = sinks
        self._publisher = publisher
        self._clock = clock

    async def delete_document(self, who: Principal, document_id: str) -> ingest_pb2.DeleteDocumentResponse:
        """Fence and blank the document; its rows follow. Raises `DocumentNotFound`, also when it was erased before."""
        tenant = require(who, Scope.INGEST)
        document = fields.identifier(document_id)
        event = await self._erase(tenant, document)
        if event is None:
            raise DocumentNotFound
        await self._publisher.publish([event])
        return ingest_pb2.DeleteDocumentResponse(id=str(document), deleted=True)

    async def cancel_document(self, who: Principal, document_id: str) -> types_pb2.Document:
        """End an open document as cancelled. Raises `Conflict` when it has ended otherwise; cancelling twice is fine."""
        tenant = require(who, Scope.INGEST)
        document = fields.identifier(document_id)
        row = await self._sinks.catalogue.cancel(tenant, document, now=self._clock.now())
        if row is None:
            row = await self._sinks.catalogue.document(tenant, document)
            if row is None:
                raise DocumentNotFound
            if row.status is not DocumentStatus.CANCELLED:
                raise Conflict(f"The document has ended as {row.status}; only an open one can be cancelled.")
        await withdraw(row, sinks=self._sinks)
        await self._sinks.catalogue.close_cancelled(tenant, row.id, row.generation)
        return protobuf.document(row)

    async def delete_container(
        self, who: Principal, request: container_pb2.ContainerServiceDeleteRequest
    ) -> container_pb2.ContainerServiceDeleteResponse:
        """Erase every document of exactly this container. A second call after a crash takes up where the first stopped."""
        tenant = require(who, Scope.INGEST)
        name = checked_container(request.name)
        if not request.confirm:
            raise ConfirmationRequired
        found = await self._sinks.catalogue.documents_in(tenant, name)
        if not found:
            raise ContainerNotFound
        events: list[Event] = []
        for document in found:
            event = await self._erase(tenant, document)
            if event is not None:
                events.append(event)
        if events:
            await self._publisher.publish(events)
        return container_pb2.ContainerServiceDeleteResponse(container=name, deleted_count=len(events))

    async def _erase(self, tenant: str, document: UUID) -> Event | None:
        erasure = await self._sinks.catalogue.erase(tenant, document, now=self._clock.now())
        if erasure is None:
            return None
        # The texts go before the answer: if the document is accepted again at once, readers of the older generation find nothing.
        await self._sinks.catalogue.delete_units(tenant, document, through_generation=erasure.generation)
        return erased_event(erasure, trace=tracing.current())
