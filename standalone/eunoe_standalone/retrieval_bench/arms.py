"""What is compared with `--ablate`: single arms, the two fusions, then the recipe one step at a time."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_search.query import Fusion, Mode, Step


@dataclass(frozen=True, slots=True)
class Arm:
    """A name for the table and the fields of the search request that make it. Empty fields are the server's defaults."""

    name: str
    mode: str = ""
    fusion: str = ""
    ablate: tuple[str, ...] = ()


DEFAULT = Arm("default")


def arms(*, ablate: bool) -> list[Arm]:
    """The default alone, or all."""
    if not ablate:
        return [DEFAULT]
    steps = [str(step) for step in Step]
    ladder = [Arm(f"+ {step.replace('_', ' ')}", ablate=tuple(steps[at + 1 :])) for at, step in enumerate(steps[:-1])]
    alone = [Arm("BM25 only", mode=str(Mode.KEYWORD)), Arm("dense only", mode=str(Mode.VECTOR))]
    fusions = [Arm(name, fusion=str(fusion), ablate=tuple(steps)) for name, fusion in (("RRF", Fusion.RRF), ("min-max", Fusion.MINMAX))]
    last = Arm(f"+ {steps[-1].replace('_', ' ')} (default)")
    return [*alone, *fusions, *ladder, last]
