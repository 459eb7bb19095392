"""One row on its way to the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from eunoe_stores.vectors.port import RowRef

from eunoe_search.fusion import ArmPart, Parts, total_of


@dataclass(slots=True)
class Candidate:
    """A row, what the arms said of it, what priors, hops and signs added; `score` orders the answer. `hop_source` is the row whose
    mention led here.
    """

    ref: RowRef
    arms: Parts = field(default_factory=dict)
    priors: Parts = field(default_factory=dict)
    hop: float = 0.0
    hop_source: UUID | None = None
    signs: float = 0.0
    factor: float = 1.0
    fused: float = field(init=False)
    prior: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        """The sum of the arms, kept because it is read often."""
        self.fused = total_of(self.arms) if self.arms else 0.0

    def add_prior(self, name: str, part: ArmPart) -> None:
        """One more prior; each name once."""
        self.priors[name] = part
        self.prior += part.contribution

    @property
    def score(self) -> float:
        """Arms and priors together, or what a mention passes on when that is more, and the signs of a conversation turn;
        superseded rows are scaled down.
        """
        return self.factor * (max(self.fused + self.prior, self.hop) + self.signs)

    def explanation(self) -> Parts:
        """Every part by name, for `explain`."""
        hop = {"mention_hop": ArmPart(self.hop, 0, self.hop)} if self.hop > 0 else {}
        signs = {"turn_signs": ArmPart(self.signs, 0, self.signs)} if self.signs else {}
        return {**self.arms, **self.priors, **hop, **signs}


def in_order(candidates: list[Candidate]) -> list[Candidate]:
    """Best first, equal scores by id so that an answer can be repeated; the same public id in two generations once."""
    best: dict[int, Candidate] = {}
    for each in sorted(candidates, key=lambda one: (-one.score, one.ref.public_id.int, -one.ref.generation)):
        best.setdefault(each.ref.public_id.int, each)
    return list(best.values())
