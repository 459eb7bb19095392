from __future__ import annotations

import pytest
from eunoe.v1 import search_pb2
from eunoe_contracts.errors import InvalidField
from eunoe_search.ablation import OFF, without
from eunoe_search.config import SearchSettings
from eunoe_search.query import Step, read_query


def test_every_step_can_be_left_out_and_changes_nothing_else() -> None:
    settings = SearchSettings()
    assert without(settings, frozenset()) is settings
    assert set(OFF) == set(Step)
    for step in Step:
        changed = without(settings, frozenset({step})).model_dump()
        assert {name for name, value in changed.items() if value != getattr(settings, name)} == set(OFF[step])


def test_a_request_names_steps_and_an_unknown_one_is_refused() -> None:
    request = search_pb2.SearchRequest(query="weir", ablate=["mention_hop", "parent_prior"])
    assert read_query(request, default_fusion="minmax", has_model=False).ablate == {Step.MENTION_HOP, Step.PARENT_PRIOR}
    with pytest.raises(InvalidField, match="ablate"):
        read_query(search_pb2.SearchRequest(query="weir", ablate=["magic"]), default_fusion="minmax", has_model=False)
