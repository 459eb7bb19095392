"""The sweeper: the outbox of acceptance and of edits, the second chance of every open document, and the end of every erasure.

It reads only the catalogue and the log, so it does the same after a crash as it does beside a running server.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from eunoe_contracts import topics
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import ReadBackFailed, as_eunoe_error
from eunoe_contracts.events import encode
from eunoe_contracts.stages import DocumentStatus, Stage, is_settled
from eunoe_stores.catalogue.rows import DocumentRow, Erasure, OpenDocument
from eunoe_stream.log import Log
from eunoe_stream.runner.insistence import where
from eunoe_telemetry.metrics import Metrics

from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.documents import erasure
from eunoe_gateway.documents.ends import Ended, settle, stage_states
from eunoe_gateway.documents.inputs import accepted_event, finished_event, input_event, input_key, next_stages
from eunoe_gateway.documents.orphans import Orphans
from eunoe_gateway.documents.purge import Purge
from eunoe_gateway.documents.sinks import Sinks, withdraw
from eunoe_gateway.documents.turn import Turn
from eunoe_gateway.memory_events import edit_event
from eunoe_gateway.ports import StageInput

LONG = 4
"""Times `sweep_after_s`: how long a document waits for the other events of its container."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sweeper:
    """One pass looks at open documents without progress, edits that no stage was told of, unfinished erasures and stale uploads.

    `inputs` says where each stage reads; `finish` where the finisher does. May run in several processes at the same time: events made
    twice are one to their readers, ends are compared and set, removals may be repeated. `turn` makes that rare.
    """

    sinks: Sinks
    log: Log
    clock: Clock
    metrics: Metrics
    settings: GatewaySettings
    inputs: Mapping[Stage, StageInput]
    finish: StageInput
    with_vectors: bool
    on_end: Ended
    orphans: Orphans
    purge: Purge
    turn: Turn
    seen: dict[tuple[str, UUID], tuple[datetime, datetime]] = field(default_factory=dict)
    """When a document that stands still was last looked at, and its last change then: a long queue is not asked every time."""

    async def run(self) -> None:
        """Pass after pass, the first at once; for ever."""
        look_at_blobs = self.clock.monotonic()
        while True:
            if await self.sweep() and self.clock.monotonic() >= look_at_blobs:
                await self._guarded(self.blobs)
                look_at_blobs = self.clock.monotonic() + self.settings.orphan_interval_s
            await self.clock.sleep(self.settings.sweep_interval_s)

    async def sweep(self) -> bool:
        """One pass; false when it is another gateway's turn. A part that fails is left to the next pass; the other parts go on."""
        await self._guarded(self.count)
        try:
            if not await self.turn.is_mine():
                return False
        except Exception as error:  # noqa: BLE001 - as below
            _tell("sweeper", error)
            return False
        for part in (self.documents, self.edits, self.erasures, self.uploads):
            await self._guarded(part)
        return True

    async def _guarded(self, part: Callable[[], Awaitable[None]]) -> None:
        try:
            await part()
        except Exception as error:  # noqa: BLE001 - nobody else repeats what is lost, so it must outlive defects too
            _tell("sweeper", error)

    async def count(self) -> None:
        """Tell how many documents are open; every gateway does."""
        self.metrics.set("open_documents", await self.sinks.catalogue.count_open())

    async def documents(self) -> None:
        """Give every document that stands still what it waits for."""
        since = self.clock.now() - timedelta(seconds=self.settings.sweep_after_s)
        found = await self.sinks.catalogue.open_documents(not_updated_since=since, limit=self.settings.sweep_limit)
        for each in self._due(found):
            try:
                await self._look_at(each)
            except Exception as error:  # noqa: BLE001 - one document must not keep the others waiting
                _tell(f"sweeper: document {each.document}", error)

    def _due(self, found: Sequence[OpenDocument]) -> Sequence[OpenDocument]:
        now = self.clock.now()
        again = timedelta(seconds=self.settings.sweep_again_s)
        kept = {key: self.seen[key] for each in found if (key := (each.tenant, each.document)) in self.seen}
        due = []
        for each in found:
            key = (each.tenant, each.document)
            looked_at, changed_at = kept.get(key, (None, None))
            if looked_at is None or changed_at != each.updated_at or now - looked_at >= again or not each.published:
                due.append(each)
                kept[key] = (now, each.updated_at)
        self.seen.clear()
        self.seen.update(kept)
        return due

    async def _look_at(self, found: OpenDocument) -> None:
        row = await self.sinks.catalogue.document(found.tenant, found.document)
        if row is None or row.generation != found.generation:
            return
        if row.status is DocumentStatus.CANCELLED:
            await withdraw(row, sinks=self.sinks)
            await self.sinks.catalogue.close_cancelled(row.tenant, row.id, row.generation)
        elif row.status.is_end:
            return
        elif not row.published:
            await self._publish_first(row)
        elif is_settled(stage_states(row)):
            await self._settle(row)
        else:
            await self._publish_missing(row)

    async def _publish_first(self, row: DocumentRow) -> None:
        await self.log.publish([encode(accepted_event(row))])
        await self.sinks.catalogue.mark_published(row.tenant, row.id, row.generation)
        self._republished(topics.DOCUMENT_ACCEPTED)

    async def _publish_missing(self, row: DocumentRow) -> None:
        done: set[str] = set()
        for stage in next_stages(row):
            source = self.inputs.get(stage)
            if source is None or source.topic in done:
                continue
            key = await self._free_key(source, row)
            if key is None:
                continue
            event = await input_event(stage, row, catalogue=self.sinks.catalogue, salt=f"sweep-{row.revision}")
            await self.log.publish([encode(replace(event, key=key))])
            done.add(source.topic)
            self._republished(source.topic)

    async def _free_key(self, source: StageInput, row: DocumentRow) -> str | None:
        """The key to publish under; None while the document's own event may still be on the log.

        Events of memories share their container's key, and a busy container has always one pending. So a document that stood still
        for long gets an event under its own key, of which one is pending at most; what comes of it does not depend on the order.
        """
        usual, own = input_key(source.topic, row), topics.document_key(row.tenant, str(row.id))
        if not await self.log.has_pending(source.topic, source.group, usual):
            return usual
        stood_still_s = (self.clock.now() - row.updated_at).total_seconds()
        if usual == own or stood_still_s < LONG * self.settings.sweep_after_s:
            return None
        return None if await self.log.has_pending(source.topic, source.group, own) else own

    async def _settle(self, row: DocumentRow) -> None:
        key = topics.document_key(row.tenant, str(row.id))
        give_up = (self.clock.now() - row.updated_at).total_seconds() > self.settings.read_back_limit_s
        if not give_up and await self.log.has_pending(self.finish.topic, self.finish.group, key):
            return
        # First the finisher's record: once the end is set nobody looks here again, and what comes after it must not be lost.
        await self.log.publish([encode(finished_event(row, salt=f"sweep-{row.revision}"))])
        try:
            events = await settle(
                row.tenant,
                row.id,
                row.generation,
                sinks=self.sinks,
                now=self.clock.now(),
                with_vectors=self.with_vectors,
                on_end=self.on_end,
                give_up=give_up,
            )
        except ReadBackFailed as error:
            logger.warning("sweeper: document %s: %s", row.id, error.message)
            return
        if events:
            await self.log.publish([encode(each) for each in events])

    async def edits(self) -> None:
        """Publish what whoever made an edit could not publish any more."""
        before = self.clock.now() - timedelta(seconds=self.settings.sweep_after_s)
        for edit in await self.sinks.catalogue.unpublished_edits(before=before, limit=self.settings.sweep_limit):
            await self.log.publish([encode(edit_event(edit))])
            await self.sinks.catalogue.edit_published(edit)
            self._republished(topics.MEMORY_CHANGED)

    def _republished(self, topic: str) -> None:
        self.metrics.count("sweeper_republished_total", topic=topic)

    async def erasures(self) -> None:
        """Remove again what erased documents left, overwrite what the files still hold of it, and write the proofs."""
        if not self.purge.is_due:
            return
        before = self.clock.now() - timedelta(seconds=self.settings.erase_after_s)
        found = await self.sinks.catalogue.pending_erasures(requested_before=before, limit=self.settings.sweep_limit)
        gone = [each for each in found if await self._is_gone(each)]
        if gone and await self.purge.run():
            for each in gone:
                await erasure.prove(each, sinks=self.sinks, now=self.clock.now())

    async def _is_gone(self, found: Erasure) -> bool:
        try:
            return await erasure.remove_again(found, sinks=self.sinks)
        except Exception as error:  # noqa: BLE001 - as above
            _tell(f"sweeper: erasure of {found.document}", error)
            return False

    async def uploads(self) -> None:
        """Drop uploads that nobody will finish."""
        await self.sinks.blobs.discard_stale(older_than=self.clock.now() - timedelta(seconds=self.settings.stale_upload_s))

    async def blobs(self) -> None:
        """Drop blobs that no document owns."""
        removed = await self.orphans.remove()
        if removed:
            logger.info("sweeper: removed blobs of %d documents that were never accepted or are erased", removed)


def _tell(what: str, error: Exception) -> None:
    """One line; for a defect the place as well, never its message, which may hold content."""
    logger.warning("%s: %s%s", what, as_eunoe_error(error).code, where(error))
