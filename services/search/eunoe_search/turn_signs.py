"""Re-ordering of conversation turns by cheap signs (`turns.signs`): a weighted sum is added to the score.

Weights were learned by listwise softmax (Cao et al., "Learning to rank: from pairwise to listwise approach", ICML 2007) with
`bench/turn_signs.py`, which prints this table; the weight of the score that the other steps gave is 1. Learned on two of three
conversations and tested on the third, recall at ten rose by 3 to 5 points. Rows that are no turns get 0, which is what an
average turn gets: a search over documents is not changed, and turns are neither above nor below documents for being turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from eunoe_contracts.content import Kind
from eunoe_stores.catalogue.port import UnitCatalogue
from eunoe_stores.vectors.port import RowRef, VectorIndex

from eunoe_search.candidate import Candidate
from eunoe_search.turns import Turn, read_question, read_turn, signs

KEPT = 20_000
"""Rows whose signs are remembered, some 200 bytes each; a text never changes under its key."""

COVERAGE = "coverage"
"""Share of the question's words, weighted by rarity, in the turn with its header and the turn before it."""

WEIGHTS: Mapping[str, float] = {
    "speaker_named": 0.15,
    "is_question": -0.24,
    "follows_question": 0.15,
    "first_person": 0.15,
    "number_wanted": 0.42,
    "thing_length": 0.19,
    "length": -0.20,
    COVERAGE: 0.37,
}
AVERAGE = 0.15
"""The weighted sum of an average candidate."""


class TurnReader:
    """Turns by row, each read from the catalogue once. Use it from one event loop."""

    def __init__(self, catalogue: UnitCatalogue, *, kept: int = KEPT) -> None:
        self._catalogue = catalogue
        self._kept = kept
        self._known: dict[tuple[str, int], Turn | None] = {}

    async def read(self, tenant: str, refs: Sequence[RowRef]) -> Mapping[UUID, Turn]:
        """The rows that are turns, by row key. Raises `StoreUnavailable`."""
        passages = [ref for ref in refs if ref.kind is Kind.PASSAGE and ref.is_turn is not False]
        unknown = [ref for ref in passages if (tenant, ref.key.int) not in self._known]
        units = await self._catalogue.units_by_id(tenant, [ref.public_id for ref in unknown]) if unknown else {}
        for ref in unknown:
            unit = units.get(ref.public_id)
            if unit is not None:
                speaker = unit.location.speaker
                self._known[tenant, ref.key.int] = read_turn(speaker, unit.text, unit.context) if speaker else None
        found: dict[UUID, Turn] = {}
        for ref in passages:
            place = (tenant, ref.key.int)
            if place in self._known:
                turn = self._known[place] = self._known.pop(place)  # put last again, so that the oldest are those not asked for
                if turn is not None:
                    found[ref.key] = turn
        while len(self._known) > self._kept:
            del self._known[next(iter(self._known))]
        return found


async def apply_turn_signs(
    tenant: str,
    question: str,
    tokens: Sequence[str],
    candidates: Sequence[Candidate],
    *,
    turns: TurnReader,
    vectors: VectorIndex,
    weight: float,
) -> None:
    """Add the weighted signs to the candidates that are turns. Raises `StoreUnavailable`."""
    found = await turns.read(tenant, [each.ref for each in candidates])
    if not found:
        return
    asked = read_question(question)
    coverage = await vectors.coverage(tenant, tokens, list(found)) if tokens else {}
    for each in candidates:
        turn = found.get(each.ref.key)
        if turn is not None:
            values = signs(asked, turn)
            values[COVERAGE] = coverage.get(each.ref.key, 0.0)
            each.signs = weight * (total(values) - AVERAGE)


def total(values: Mapping[str, float]) -> float:
    """The weighted sum."""
    return sum([weight * values[name] for name, weight in WEIGHTS.items()])
