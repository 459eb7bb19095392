from __future__ import annotations

import itertools

from eunoe_contracts.stages import RANK, DocumentStatus, Stage, StageState, degraded_stages, is_settled, open_status


def test_status_never_goes_back_as_stages_advance() -> None:
    order = (StageState.WAITING, StageState.RUNNING, StageState.FINISHED)
    for extract, embed in itertools.product(range(3), repeat=2):
        now = open_status({Stage.EXTRACT: order[extract], Stage.EMBED: order[embed]})
        for later_extract, later_embed in itertools.product(range(extract, 3), range(embed, 3)):
            later = open_status({Stage.EXTRACT: order[later_extract], Stage.EMBED: order[later_embed]})
            assert RANK[later] >= RANK[now]


def test_settled_when_all_finished() -> None:
    states = dict.fromkeys(Stage, StageState.FINISHED)
    assert is_settled(states)
    for stage in Stage:
        assert not is_settled({**states, stage: StageState.RUNNING})


def test_an_exhausted_optional_stage_degrades_and_cuts_off_what_follows() -> None:
    states = {Stage.EXTRACT: StageState.FINISHED, Stage.EMBED: StageState.FINISHED, Stage.STRUCTURE: StageState.FINISHED}
    states[Stage.PROPOSE] = StageState.EXHAUSTED
    assert is_settled(states)
    assert degraded_stages(states) == [Stage.PROPOSE]


def test_an_exhausted_required_stage_settles_at_once() -> None:
    assert is_settled({Stage.EXTRACT: StageState.EXHAUSTED})
    assert open_status({}) is DocumentStatus.QUEUED
