"""Settings of a process: what is missing or mistyped is named with what to do, secrets are hidden, other processes' sections pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from eunoe_contracts.errors import ConfigurationError
from eunoe_process.config import InternalSettings, ProcessSettings
from eunoe_process.sections import SECTIONS, others
from eunoe_process.settings_table import effective_of, load, refuse_unknown, section_of, settings_of
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

OWNERS = (ProcessSettings, InternalSettings)


class StoreSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="EUNOE_S3__", env_file=".env", frozen=True, extra="ignore")

    endpoint: str = Field(description="Where the object store is.")


def check(**environment: str) -> None:
    refuse_unknown(settings_of(OWNERS), elsewhere=others(OWNERS), advice="look", environment=environment, dotenv=Path("no-such-file"))


def test_a_setting_that_is_missing_is_named_with_its_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EUNOE_S3__ENDPOINT", raising=False)
    with pytest.raises(ConfigurationError, match=r"EUNOE_S3__ENDPOINT is not set, and has no default. Where the object store is."):
        load(StoreSettings)


def test_a_value_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EUNOE_PROCESS__DRAIN_S", "soon")
    with pytest.raises(ConfigurationError, match="EUNOE_PROCESS__DRAIN_S"):
        load(ProcessSettings)


def test_a_typing_mistake_is_refused_and_other_processes_settings_pass() -> None:
    check(EUNOE_GATEWAY__QUEUE_LIMIT="5", EUNOE_PROCESS__DRAIN_S="5", EUNOE_EMBEDDER_PORT="tcp://10.0.0.1:50052")
    with pytest.raises(ConfigurationError, match="EUNOE_PROCESS__DRIAN_S; look"):
        check(EUNOE_PROCESS__DRIAN_S="5")
    with pytest.raises(ConfigurationError, match="EUNOE_GATEAWY__QUEUE_LIMIT"):
        check(EUNOE_GATEAWY__QUEUE_LIMIT="5")


def test_secrets_are_hidden_and_origins_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("EUNOE_PROCESS__DRAIN_S=7\n", encoding="utf-8")
    monkeypatch.setenv("EUNOE_INTERNAL__SECRET", "never shown to anybody")
    monkeypatch.setenv("EUNOE_INTERNAL__SEARCH", "a:1, b:2")
    found = {each.variable: (each.value, each.origin) for each in effective_of(OWNERS)}
    assert found["EUNOE_INTERNAL__SECRET"] == ("(set)", "environment")
    assert found["EUNOE_INTERNAL__SEARCH"] == ("a:1,b:2", "environment")
    assert found["EUNOE_PROCESS__DRAIN_S"] == ("7.0", ".env")
    assert found["EUNOE_PROCESS__START_S"][1] == "default"
    assert SecretStr("x")  # the type that is hidden


def test_the_sections_are_those_of_all_settings_classes() -> None:
    from eunoe_standalone.settings_catalogue import CLUSTER_MODULES, MODULES, settings_classes

    assert {section_of(each) for each in settings_classes((*MODULES, *CLUSTER_MODULES))} == set(SECTIONS)
