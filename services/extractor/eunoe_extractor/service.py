"""Use cases of the extractor: read a document into units, and remove what was made of an erased one."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol
from uuid import UUID

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.clock import Clock
from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.errors import CapabilityUnavailable, EmptyExtraction, EunoeError, LowTextQuality, MalformedEvent
from eunoe_contracts.events import Event, document_event
from eunoe_contracts.identity import session_id
from eunoe_models.embedding.port import TokenCounter
from eunoe_safety.event_loop import off_loop
from eunoe_stores.blobs.port import BlobKey, BlobStore
from eunoe_stores.catalogue.port import DocumentCatalogue, UnitCatalogue
from eunoe_stores.catalogue.rows import DocumentRow

from eunoe_extractor.format import verified_format
from eunoe_extractor.parsed import ParsedDocument, Parser
from eunoe_extractor.quality import is_readable
from eunoe_extractor.segments.layout import lay_out
from eunoe_extractor.segments.limits import Limits
from eunoe_extractor.segments.outline import Origin, units
from eunoe_extractor.segments.stop import StoppableCounter
from eunoe_extractor.title import date_of, speaker_of, title_of
from eunoe_extractor.turn import Before, awaited_before, said, said_before, turn_of


class ExtractCatalogue(DocumentCatalogue, UnitCatalogue, Protocol):
    """The parts of the catalogue that the extractor needs."""


async def extract(
    event: Event,
    *,
    catalogue: ExtractCatalogue,
    blobs: BlobStore,
    parser: Parser,
    formats: Collection[str],
    tokens: TokenCounter | None,
    limits: Limits,
    clock: Clock,
) -> Sequence[Event]:
    """Parse the blob of a document and store its units; the same event twice stores the same rows.

    Without `tokens` (no embedder) lengths are characters / 4. Raises what `Parser.parse` and `verified_format` raise,
    `CapabilityUnavailable` for a format that is not among `formats`, `EmptyExtraction` when there is no text, `LowTextQuality` when
    nobody could read it. Nothing happens for a document that is erased or has a newer generation.
    """
    row = await _current(event, catalogue)
    if row is None:
        return []
    if row.content_type not in formats:
        raise CapabilityUnavailable(f"this extractor does not read {row.content_type}")
    parsed = await _parse(row, blobs=blobs, parser=parser)
    if parsed.warnings:
        await catalogue.add_warnings(row.tenant, row.id, row.generation, parsed.warnings)
    counter = tokens or limits.without_embedder()
    turn = turn_of(row)
    before = await said_before(row, turn, catalogue=catalogue) if turn is not None else Before()
    origin = replace(_origin(row, parsed.title), before=before.text)
    made = await _stored(origin, parsed, row, counter, limits, catalogue=catalogue, clock=clock)
    if made and turn is not None and not before.is_final:
        # Stored before it waits for the turn before it, so that the turn after it need not wait for both.
        before = await awaited_before(row, turn, catalogue=catalogue, clock=clock)
        if before.awaited is not None:
            before = Before(await _read_ahead(row.tenant, before.awaited, counter, limits, catalogue=catalogue, blobs=blobs, parser=parser))
        if before.text != origin.before:
            made = await _stored(replace(origin, before=before.text), parsed, row, counter, limits, catalogue=catalogue, clock=clock)
    if not made:
        return []
    passages = sum(1 for each in made if each.kind is Kind.PASSAGE)
    body = events_pb2.DocumentExtracted(tenant=row.tenant, document_id=str(row.id), generation=row.generation, passages=passages)
    return [document_event(topics.DOCUMENT_EXTRACTED, body, trace=event.trace)]


async def erase(event: Event, *, catalogue: UnitCatalogue, blobs: BlobStore) -> Sequence[Event]:
    """Remove the units and blobs of an erased document, through the generation the event names. May run twice."""
    if event.document is None:
        raise MalformedEvent
    await catalogue.delete_units(event.tenant, event.document, through_generation=event.generation)
    await blobs.delete(event.tenant, event.document, through_generation=event.generation)
    return []


async def undo_extract(event: Event, *, catalogue: ExtractCatalogue, blobs: BlobStore) -> None:
    """After the fence fell: remove everything when the document was erased.

    Units of a generation that a newer one replaces stay readable until that one is done; its finisher removes them.
    """
    if event.document is not None and await catalogue.document(event.tenant, event.document) is None:
        await erase(event, catalogue=catalogue, blobs=blobs)


async def _current(event: Event, catalogue: DocumentCatalogue) -> DocumentRow | None:
    if event.document is None:
        raise MalformedEvent
    row = await catalogue.document(event.tenant, event.document)
    return row if row is not None and row.generation == event.generation else None


async def _parse(row: DocumentRow, *, blobs: BlobStore, parser: Parser) -> ParsedDocument:
    async with blobs.as_file(row.tenant, BlobKey(row.id, row.generation, row.blob)) as path:
        verify = partial(verified_format, accepted=row.content_type, name=row.name, media_type=row.media_type, sha256=row.sha256)
        format_id = await off_loop(row.size, verify, path)
        return await parser.parse(path, format_id=format_id, name=row.name)


def _origin(row: DocumentRow, parsed_title: str) -> Origin:
    turn = turn_of(row)
    return Origin(
        document=row.id,
        generation=row.generation,
        container=row.container,
        title=title_of(row, parsed_title),
        date=date_of(row),
        speaker=speaker_of(row),
        session=session_id(row.tenant, row.container, turn.session) if turn is not None else None,
    )


async def _read_ahead(
    tenant: str, document: UUID, tokens: TokenCounter, limits: Limits, *, catalogue: DocumentCatalogue, blobs: BlobStore, parser: Parser
) -> str:
    """What a turn says that is accepted and not read yet: it may stand in the queue behind the very turns that wait for it.

    Empty when it can never be read, as it then says nothing when its own time comes either.
    """
    row = await catalogue.document(tenant, document)
    if row is None:
        return ""
    try:
        parsed = await _parse(row, blobs=blobs, parser=parser)
        made = await _cut(_origin(row, parsed.title), parsed, tokens, limits)
    except EunoeError as error:
        if error.retryable:
            raise
        return ""
    return said([each for each in made if each.kind is Kind.PASSAGE])


async def _stored(
    origin: Origin,
    parsed: ParsedDocument,
    row: DocumentRow,
    tokens: TokenCounter,
    limits: Limits,
    *,
    catalogue: UnitCatalogue,
    clock: Clock,
) -> Sequence[Unit]:
    # Empty when fenced.
    made = await _cut(origin, parsed, tokens, limits)
    is_stored = await catalogue.put_units(row.tenant, row.id, row.generation, made, title=origin.title, now=clock.now())
    return made if is_stored else ()


async def _cut(origin: Origin, parsed: ParsedDocument, tokens: TokenCounter, limits: Limits) -> list[Unit]:
    # Cutting a long document takes seconds of pure computation, which the event loop cannot give.
    # When the deadline ends the wait, the thread must end too: several of them would starve everything else.
    stop = threading.Event()
    try:
        return await off_loop(sum(len(each.text) for each in parsed.blocks), _units, origin, parsed, StoppableCounter(tokens, stop), limits)
    finally:
        stop.set()


def _units(origin: Origin, parsed: ParsedDocument, tokens: TokenCounter, limits: Limits) -> list[Unit]:
    layout = lay_out(parsed)
    if not is_readable(layout.text):
        raise LowTextQuality
    made = units(origin, layout, tokens=tokens, limits=limits)
    if not made:
        raise EmptyExtraction
    return made
