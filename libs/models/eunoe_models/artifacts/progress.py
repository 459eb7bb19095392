"""How long work on model files tells where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """`step` of `model`; bytes for a download, else 0 of 0."""

    model: str
    step: Literal["waiting", "resolving", "downloading", "unpacking", "building", "ready"]
    done: int = 0
    total: int = 0


Report: TypeAlias = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Tells nobody."""
    del progress
