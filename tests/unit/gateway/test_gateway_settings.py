from __future__ import annotations

import pytest
from eunoe_contracts.errors import UnsupportedFormat
from eunoe_contracts.stages import Stage
from eunoe_gateway.config import AuthSettings, GatewaySettings
from eunoe_gateway.documents.content import declared_format
from eunoe_gateway.ports import StageInput, stage_inputs
from eunoe_stream.subscription import Service, Subscription
from pydantic import ValidationError


@pytest.mark.parametrize("name", ["EUNOE_AUTH__API_TOKEN", "API_TOKEN"])
def test_the_token_has_two_names_and_is_never_shown(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "very-secret")
    settings = AuthSettings()
    assert settings.api_token.get_secret_value() == "very-secret"
    assert "very-secret" not in repr(settings)


def test_settings_come_from_the_environment_and_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_GATEWAY__QUEUE_LIMIT", "7")
    assert GatewaySettings().queue_limit == 7
    monkeypatch.setenv("EUNOE_GATEWAY__QUEUE_LIMIT", "0")
    with pytest.raises(ValidationError):
        GatewaySettings()


def test_stage_inputs_are_read_from_the_services() -> None:
    async def handler(_: object) -> list[object]:
        return []

    service = Service("s", (Subscription("a", "g", handler, Stage.EMBED), Subscription("b", "g", handler)))
    assert stage_inputs([service]) == {Stage.EMBED: StageInput("a", "g")}


@pytest.mark.parametrize(
    ("declared", "found"), [("", None), ("application/octet-stream", None), ("pdf", "pdf"), ("text/markdown", "markdown")]
)
def test_declared_types(declared: str, found: str | None) -> None:
    known = declared_format(declared)
    assert (known.id if known else None) == found


def test_an_unknown_declared_type_names_what_is_supported() -> None:
    with pytest.raises(UnsupportedFormat, match="markdown"):
        declared_format("spreadsheet")
