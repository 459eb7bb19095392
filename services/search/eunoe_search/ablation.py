"""Leaving steps of the ranking out, so that a measurement can tell what each adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eunoe_search.config import SearchSettings
from eunoe_search.query import Step

OFF: Mapping[Step, Mapping[str, Any]] = {
    Step.PARENT_PRIOR: {"prior_parent_bm25": 0.0, "prior_parent_dense": 0.0},
    Step.FOLLOWING_PRIOR: {"prior_following": 0.0},
    Step.TITLE_NAMED: {"title_named": 0.0},
    Step.MENTION_HOP: {"hop_sources": 0},
    Step.TURN_SIGNS: {"turn_signs": 0.0},
}
"""The settings that switch a step off."""


def without(settings: SearchSettings, steps: frozenset[Step]) -> SearchSettings:
    """The settings with these steps switched off."""
    changes = {name: value for step in steps for name, value in OFF[step].items()}
    return settings.model_copy(update=changes) if changes else settings
