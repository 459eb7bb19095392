"""The commit of an accepted content: plan, place the blob, write the row, publish. Runs to its end even when the caller is gone."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from uuid import UUID

from eunoe_contracts.errors import BlobNotFound, EunoeError, QueueFull, StaleGeneration, StoreUnavailable
from eunoe_contracts.identity import root_id
from eunoe_stores.blobs.port import BlobKey
from eunoe_stores.catalogue.rows import AcceptAction, Accepted, DocumentRow, Edit, NewDocument

from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.documents.inputs import accepted_event
from eunoe_gateway.documents.readable import ReadableFormats
from eunoe_gateway.keyed_locks import KeyedLocks
from eunoe_gateway.memory_events import publish_edit
from eunoe_gateway.ports import GatewayPorts
from eunoe_gateway.publishing import Publisher

MAX_PLANS = 8
"""How often the commit starts over when the document's state moves under it."""

logger = logging.getLogger(__name__)


class Commit:
    """Turns a staged upload into an accepted document, or into nothing."""

    def __init__(self, ports: GatewayPorts, settings: GatewaySettings, publisher: Publisher, locks: KeyedLocks[UUID]) -> None:
        self._ports = ports
        self._settings = settings
        self._publisher = publisher
        self._readable = ReadableFormats(ports.catalogue, ports.clock)
        # Two equal posts at once share one blob key; one after the other, neither can remove the other's blob.
        self._locks = locks
        self._running: set[asyncio.Task[Accepted]] = set()

    async def run(self, tenant: str, new: NewDocument, upload_id: str, *, keep_refused: bool = False) -> Accepted:
        """Accept; returns when durable and, if the log answers soon, published. The staged upload is gone afterwards, but with
        `keep_refused` it stays when the document was not accepted and its bytes were not moved yet.

        Raises `IdempotencyConflict`, `QueueFull`, `StorageFull`, `StoreUnavailable`, `CapabilityUnavailable` for new work in a format
        that the extractors do not read.
        """
        task = asyncio.create_task(self._run(tenant, new, upload_id, keep_refused=keep_refused))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Accepted]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # read it, also when the caller that would have is gone

    async def _run(self, tenant: str, new: NewDocument, upload_id: str, *, keep_refused: bool) -> Accepted:
        keep = keep_refused
        try:
            async with self._locks.hold(new.id):
                accepted = await self._accept(tenant, new, upload_id)
            keep = accepted.action is not AcceptAction.DEDUPLICATE  # then it has become the document's blob
        finally:
            if not keep:
                await self._ports.blobs.discard(tenant, upload_id)
        row = accepted.document
        if accepted.action is not AcceptAction.DEDUPLICATE:
            self._ports.metrics.count("ingest_bytes_total", new.size, format=new.content_type)

            async def published() -> None:
                await self._ports.catalogue.mark_published(tenant, row.id, row.generation)

            await self._publisher.publish([accepted_event(row)], then=published)
        elif accepted.updated:
            # The root stands for the whole document: every row carries its tags and metadata.
            edit = Edit(tenant, row.container, root_id(row.id), row.updated_at)
            await publish_edit(edit, publisher=self._publisher, catalogue=self._ports.catalogue)
        return accepted

    async def _accept(self, tenant: str, new: NewDocument, upload_id: str) -> Accepted:
        placed: BlobKey | None = None
        accepted: Accepted | None = None
        try:
            for _ in range(MAX_PLANS):
                plan = await self._ports.catalogue.plan_accept(tenant, new, reprocess=await self._is_last_again(tenant, new))
                if plan.action is not AcceptAction.DEDUPLICATE:
                    await self._readable.require(new.content_type)
                    placed = await self._place(tenant, upload_id, BlobKey(new.id, plan.generation, new.blob), placed, new.size)
                with contextlib.suppress(StaleGeneration):
                    accepted = await self._ports.catalogue.accept(
                        tenant, new, plan=plan, queue_limit=self._settings.queue_limit, now=self._ports.clock.now()
                    )
                    return accepted
            raise StoreUnavailable("The document changed again and again while it was accepted; send it again.")
        except QueueFull as error:
            raise QueueFull(error.message, retry_after_s=self._settings.retry_after_s) from error
        finally:
            if placed is not None and (accepted is None or not _owns(accepted.document, placed)):
                await self._drop_unowned(tenant, placed)

    async def _is_last_again(self, tenant: str, new: NewDocument) -> bool:
        """True when an old version of a `custom_id` is posted once more while a newer one stands, which would else replace it.

        Not with an idempotency key: its repetition is a retry, and changes nothing.
        """
        return bool(new.custom_id) and not new.is_keyed and await self._ports.catalogue.is_superseded(tenant, new.id)

    async def _place(self, tenant: str, upload_id: str, key: BlobKey, placed: BlobKey | None, size: int) -> BlobKey:
        if placed is None:
            await self._ports.blobs.promote(tenant, upload_id, key)
        elif placed != key:
            # The generation moved on after the upload was moved to the older one's key: copy it from there.
            again = self._ports.ids.new()
            try:
                await self._ports.blobs.stage(tenant, again, self._ports.blobs.stream(tenant, placed), limit=size)
            except BlobNotFound as error:
                raise StoreUnavailable("The document was erased while it was accepted; send it again.") from error
            await self._ports.blobs.promote(tenant, again, key)
            await self._drop_unowned(tenant, placed)
        return key

    async def _drop_unowned(self, tenant: str, key: BlobKey) -> None:
        try:
            row = await self._ports.catalogue.document(tenant, key.document)
            if self._may_drop(row, key):
                await self._ports.blobs.delete_one(tenant, key)
        except EunoeError as error:
            # The answer is decided already; an audit finds what stays.
            logger.warning("unowned blob may have been left: %s", error.code)

    def _may_drop(self, row: DocumentRow | None, key: BlobKey) -> bool:
        if self._ports.alone:
            return row is None or not _owns(row, key)
        # The same content may be on its way through another gateway, which has put its blob under this key and has no row yet. Only
        # what no acceptance can own any more goes now; the rest is left to the search for orphans, which asks the catalogue first.
        return row is not None and row.generation >= key.generation and not _owns(row, key)


def _owns(row: DocumentRow, key: BlobKey) -> bool:
    return (row.generation, row.blob) == (key.generation, key.name)
