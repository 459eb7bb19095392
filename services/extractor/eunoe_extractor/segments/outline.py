"""All units of a document: root, sections, passages, each with its id, parent, place and contextual text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from eunoe_contracts.content import Kind, Location, Unit
from eunoe_contracts.identity import passage_id, root_id, section_id
from eunoe_models.embedding.port import TokenCounter

from eunoe_extractor.segments.context import contextual, header
from eunoe_extractor.segments.layout import Layout
from eunoe_extractor.segments.length import Measure, document_length
from eunoe_extractor.segments.limits import Limits
from eunoe_extractor.segments.passage import Passage, passages
from eunoe_extractor.segments.piece import pieces
from eunoe_extractor.segments.section import Section, sections
from eunoe_extractor.segments.summary import summary


@dataclass(frozen=True, slots=True)
class Origin:
    """What the segmenter knows of a document besides its text.

    `session` is the id of the conversation session it belongs to; `before` the whole text of the turn before it.
    """

    document: UUID
    generation: int
    container: str
    title: str = ""
    date: str = ""
    speaker: str = ""
    session: UUID | None = None
    before: str = ""


def units(origin: Origin, layout: Layout, *, tokens: TokenCounter, limits: Limits) -> list[Unit]:
    """Root first, then sections, then passages; empty when there is no text. The same input gives the same units.

    A passage's parent is the session of its conversation, else its section, else the root.
    """
    if not layout.text.strip():
        return []
    measure = Measure(tokens)
    maker = _Maker(origin, layout, measure, limits, tokens.window)
    length = document_length(layout.text)
    parts = sections(layout.text, limit=limits.section_chars) if length >= limits.section_threshold_tokens else []
    limit = limits.passage(tokens.window)
    marks = [part.start for part in parts]
    packed = passages(layout.text, list(pieces(layout, measure, limit=limit, marks=marks)), measure, limit=limit)
    return [maker.root(parts, limit, length), *maker.sections(parts), *maker.passages(packed, parts)]


class _Maker:
    def __init__(self, origin: Origin, layout: Layout, measure: Measure, limits: Limits, window: int) -> None:
        self._origin = origin
        self._layout = layout
        self._measure = measure
        self._limits = limits
        self._window = window

    def root(self, parts: Sequence[Section], limit: int, length: int) -> Unit:
        text = summary(self._layout, parts, self._measure, limit=limit) if parts else self._layout.text
        place = Location(speaker=self._origin.speaker, char_end=len(self._layout.text))
        context = self._context(text, Location(), "") if parts else ""
        tokens = self._measure.length(text) if parts else length
        return self._unit(root_id(self._origin.document), Kind.ROOT, 0, text, place, tokens=tokens, context=context, indexed=bool(parts))

    def sections(self, parts: Sequence[Section]) -> list[Unit]:
        root = root_id(self._origin.document)
        starts = [span.start for span in self._layout.spans]
        made = []
        for ordinal, part in enumerate(parts):
            span = self._layout.spans[max(0, bisect_right(starts, part.start) - 1)]
            place = Location(
                page=span.block.page,
                start_s=span.block.start_s,
                heading_path=span.path,
                speaker=span.block.speaker or self._origin.speaker,
                char_start=part.start,
                char_end=part.end,
            )
            identity = section_id(self._origin.document, ordinal)
            tokens = document_length(part.text)
            made.append(self._unit(identity, Kind.SECTION, ordinal, part.text, place, tokens=tokens, parent=root))
        return made

    def passages(self, packed: Sequence[Passage], parts: Sequence[Section]) -> list[Unit]:
        starts = [part.start for part in parts]
        before = self._origin.before
        made = []
        for ordinal, passage in enumerate(packed):
            place = passage.location
            if not place.speaker and self._origin.speaker:
                place = replace(place, speaker=self._origin.speaker)
            section = max(0, bisect_right(starts, place.char_start) - 1)
            inside = section_id(self._origin.document, section) if parts else root_id(self._origin.document)
            parent = self._origin.session or inside
            identity = passage_id(self._origin.document, ordinal)
            tokens = self._measure.length(passage.text)
            context = self._context(passage.text, place, before)
            made.append(
                self._unit(
                    identity, Kind.PASSAGE, ordinal, passage.text, place, tokens=tokens, context=context, parent=parent, indexed=True
                )
            )
            before = passage.text
        return made

    def _context(self, body: str, place: Location, before: str) -> str:
        top = header(
            self._measure,
            title=self._origin.title,
            path=place.heading_path,
            date=self._origin.date,
            speaker=place.speaker,
            limit=self._limits.header_tokens,
        )
        return contextual(self._measure, header=top, before=before, body=body, window=self._window)

    def _unit(
        self,
        identity: UUID,
        kind: Kind,
        ordinal: int,
        text: str,
        place: Location,
        *,
        tokens: int,
        context: str = "",
        parent: UUID | None = None,
        indexed: bool = False,
    ) -> Unit:
        origin = self._origin
        return Unit(
            id=identity,
            document=origin.document,
            generation=origin.generation,
            container=origin.container,
            kind=kind,
            ordinal=ordinal,
            text=text,
            context=context,
            parent=parent,
            location=place,
            tokens=tokens,
            indexed=indexed,
        )
