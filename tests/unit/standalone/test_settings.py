"""Settings that are lists, and mistakes in settings: a message, never a traceback."""

from __future__ import annotations

import pytest
from eunoe_contracts.errors import ConfigurationError
from eunoe_standalone.settings import ServerSettings
from eunoe_standalone.settings_catalogue import effective, load


@pytest.mark.parametrize("given", ["a.example,b.example", " a.example , b.example,", '["a.example", "b.example"]'])
def test_lists_with_commas_or_as_json(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_SERVER__HOSTS", given)
    assert load(ServerSettings).hosts == ("a.example", "b.example")
    shown = {each.variable: each.value for each in effective()}
    assert shown["EUNOE_SERVER__HOSTS"] == "a.example,b.example"


@pytest.mark.parametrize(("variable", "value"), [("EUNOE_SERVER__HOSTS", "[a"), ("EUNOE_SERVER__DRAIN_S", "soon")])
def test_a_mistake_names_the_variable(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable):
        load(ServerSettings)
