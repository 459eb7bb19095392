"""`Proposer` by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from uuid import UUID

from eunoe_contracts.content import Entity, Memory, Unit
from eunoe_contracts.identity import entity_id, memory_id
from eunoe_contracts.names import NAME_TYPE, main_names
from eunoe_safety.event_loop import off_loop

from eunoe_llm_extractor.backends.port import Source
from eunoe_llm_extractor.backends.rules.date import date_in
from eunoe_llm_extractor.backends.rules.rule import RULES, Rule
from eunoe_llm_extractor.backends.rules.sentence import sentences

MOST_ENTITIES = 8
MOST_PER_PASSAGE = 8
MOST_PASSAGES = 5000
"""Passages looked at in one document: some ten megabytes of text, a few seconds."""

DATED = "dated"
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|I['\u2019]\w+|[Ww]e|[Oo]ur)\b")


class RulesProposer:
    """Needs no model, no network and no key. The same document gives the same memories."""

    def __init__(self, *, most: int = 50) -> None:
        self._most = most

    async def propose(self, tenant: str, source: Source) -> Sequence[Memory]:
        """See `Proposer.propose`. At most `most` per document, the most certain ones, in document order."""
        return await off_loop(sum(len(unit.text) for unit in source.units), self._propose, tenant, source)

    def _propose(self, tenant: str, source: Source) -> list[Memory]:
        found: dict[UUID, tuple[int, Memory]] = {}
        for unit in source.units[:MOST_PASSAGES]:
            for memory in _bounded(_memories(tenant, source, unit)):
                known = found.get(memory.id)
                if known is None or known[1].confidence < memory.confidence:
                    found[memory.id] = (known[0] if known else len(found), memory)
        best = sorted(found.values(), key=lambda each: (-each[1].confidence, each[0]))[: self._most]
        return [memory for _, memory in sorted(best, key=lambda each: each[0])]


def _bounded(memories: Iterator[tuple[Rule, Memory]]) -> list[Memory]:
    # A chronicle is full of dates; one dated sentence of a passage is enough, the passage itself is found anyway.
    kept: list[Memory] = []
    has_dated = False
    for rule, memory in memories:
        if rule.name == DATED and has_dated:
            continue
        has_dated = has_dated or rule.name == DATED
        kept.append(memory)
        if len(kept) == MOST_PER_PASSAGE:
            break
    return kept


def _memories(tenant: str, source: Source, unit: Unit) -> Iterator[tuple[Rule, Memory]]:
    for sentence in sentences(unit.text):
        if sentence.endswith(("?", "\uff1f")):
            continue
        for rule in RULES:
            match = rule.pattern.search(sentence)
            if match:
                yield rule, _memory(tenant, source, unit, sentence, rule, match)
                break


def _memory(tenant: str, source: Source, unit: Unit, sentence: str, rule: Rule, match: re.Match[str]) -> Memory:
    said = match.groupdict().get("statement") or sentence
    statement = _statement(said, unit.location.speaker)
    names = main_names(said)[:MOST_ENTITIES]
    entities = tuple(Entity(entity_id(tenant, source.container, name, NAME_TYPE), source.container, name, NAME_TYPE) for name in names)
    return Memory(
        id=memory_id(tenant, source.container, rule.kind, statement),
        container=source.container,
        kind=rule.kind,
        text=statement,
        document=source.document,
        generation=source.generation,
        unit=unit.id,
        span=sentence,
        confidence=rule.confidence,
        tags=(rule.tag,),
        entities=entities,
        event_time=date_in(sentence) or source.event_time,
        metadata={"rule": rule.name},
    )


def _statement(text: str, speaker: str) -> str:
    """On one line, with a capital; who says `I` is named, so that the statement can stand alone."""
    line = " ".join(text.split())
    line = line[:1].upper() + line[1:]
    return f"{speaker}: {line}" if speaker and _FIRST_PERSON.search(line) and not line.startswith(f"{speaker}:") else line
