"""What the extractor offers to a process."""

from __future__ import annotations

from functools import partial

from eunoe_contracts import readers, topics
from eunoe_contracts.clock import Clock
from eunoe_contracts.stages import Stage
from eunoe_models.embedding.port import TokenCounter
from eunoe_stores.blobs.port import BlobStore
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stream.subscription import Background, Service, Subscription

from eunoe_extractor import service
from eunoe_extractor.capabilities import Announcement, formats_at_hand
from eunoe_extractor.config import ExtractorSettings
from eunoe_extractor.parsed import Parser

NAME = "extractor"
GROUP = readers.EXTRACT


def build(
    settings: ExtractorSettings,
    *,
    catalogue: Catalogue,
    blobs: BlobStore,
    parser: Parser,
    tokens: TokenCounter | None,
    clock: Clock,
    instance: str,
) -> Service:
    """Two subscriptions: accepted documents and erasures; and beside them it says what it reads, under the name `instance`.

    Without `tokens` (no embedder) lengths are characters / 4. Raises `ConfigurationError` for formats that it has no parser for.
    """
    formats = formats_at_hand(settings.formats)
    extract = Subscription(
        topic=topics.DOCUMENT_ACCEPTED,
        group=GROUP,
        handler=partial(
            service.extract,
            catalogue=catalogue,
            blobs=blobs,
            parser=parser,
            formats=formats,
            tokens=tokens,
            limits=settings.limits,
            clock=clock,
        ),
        stage=Stage.EXTRACT,
        undo=partial(service.undo_extract, catalogue=catalogue, blobs=blobs),
        concurrency=settings.concurrency,
        deadline_s=settings.deadline_s,
        max_attempts=settings.max_attempts,
    )
    erase = Subscription(topic=topics.DOCUMENT_ERASED, group=GROUP, handler=partial(service.erase, catalogue=catalogue, blobs=blobs))
    said = Announcement(catalogue, clock, instance, formats)
    return Service(NAME, (extract, erase), background=(Background("formats at hand", said.run),))
