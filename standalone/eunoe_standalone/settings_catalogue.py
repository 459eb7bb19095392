"""All settings of all parts: which variables exist, what is in force, where it came from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from dotenv import dotenv_values
from eunoe_contracts.errors import ConfigurationError
from pydantic import AliasChoices, SecretBytes, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsError

MODULES = (
    "eunoe_standalone.settings",
    "eunoe_gateway.config",
    "eunoe_extractor.config",
    "eunoe_embedder.config",
    "eunoe_llm_extractor.config",
    "eunoe_graph.config",
    "eunoe_search.config",
    "eunoe_models.config",
)
Loaded = TypeVar("Loaded", bound=BaseSettings)
OURS = re.compile(r"EUNOE_[A-Z0-9]+__[A-Z0-9_]+\Z")
"""Only names of this form are ours for certain; orchestrators inject `EUNOE_..._PORT` variables of their own."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable. `aliases` are other names that work too."""

    variable: str
    aliases: tuple[str, ...]
    owner: type[BaseSettings]
    field: str
    description: str
    default: str
    is_secret: bool


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting in force; `origin` is environment, .env or default. Secrets are hidden."""

    variable: str
    value: str
    origin: str


def settings_classes() -> Iterator[type[BaseSettings]]:
    """Every settings class, in the order of the modules."""
    for name in MODULES:
        module = import_module(name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, BaseSettings) and value.__module__ == name:
                yield value


def all_settings() -> Iterator[Setting]:
    """Every variable."""
    for owner in settings_classes():
        prefix = owner.model_config.get("env_prefix", "")
        for name, info in owner.model_fields.items():
            variable, *aliases = _variables(prefix, name, info)
            secret = info.annotation in {SecretStr, SecretBytes}
            yield Setting(variable, tuple(aliases), owner, name, info.description or "", _default(info), secret)


def _variables(prefix: str, name: str, info: FieldInfo) -> list[str]:
    alias = info.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    if isinstance(alias, str):
        return [alias]
    return [f"{prefix}{name}".upper()]


def _default(info: FieldInfo) -> str:
    if info.default_factory is not None or isinstance(info.default, SecretStr | SecretBytes):
        return ""
    return "" if info.default is None else _written(info.default)


def _written(value: Any) -> str:
    """A value as one writes it into `.env`."""
    return ",".join(str(each) for each in value) if isinstance(value, tuple) else str(value)


def refuse_unknown(environment: Mapping[str, str] | None = None, dotenv: Path = Path(".env")) -> None:
    """Raise `ConfigurationError` naming variables of our form that no part knows: they are typing mistakes."""
    given = {**_dotenv(dotenv), **(os.environ if environment is None else environment)}
    known = {name for each in all_settings() for name in (each.variable, *each.aliases)}
    unknown = sorted(name for name in given if OURS.match(name.upper()) and name.upper() not in known)
    if unknown:
        raise ConfigurationError(f"unknown setting {', '.join(unknown)}; `eunoe config` lists the known ones")


def _dotenv(path: Path) -> dict[str, str]:
    return {name: value for name, value in dotenv_values(path).items() if value is not None} if path.is_file() else {}


def effective(dotenv: Path = Path(".env")) -> list[Effective]:
    """Every setting with its value and origin. Raises `ConfigurationError` for a value that is not valid."""
    from_file = {name.upper() for name in _dotenv(dotenv)}
    from_environment = {name.upper() for name in os.environ}
    loaded: dict[type[BaseSettings], Any] = {}
    found = []
    for each in all_settings():
        if each.owner not in loaded:
            loaded[each.owner] = load(each.owner)
        names = {each.variable, *each.aliases}
        origin = "environment" if names & from_environment else ".env" if names & from_file else "default"
        value = getattr(loaded[each.owner], each.field)
        shown = ("(set)" if value and value.get_secret_value() else "(empty)") if each.is_secret else _written(value)
        found.append(Effective(each.variable, shown, origin))
    return found


def load(owner: type[Loaded]) -> Loaded:
    """The settings of a class; raises `ConfigurationError` naming the variable."""
    try:
        return owner()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        variable = name if OURS.match(name) else f"{owner.model_config.get('env_prefix', '')}{name}".upper()
        raise ConfigurationError(f"{variable}: {first['msg']}") from None
    except SettingsError as error:  # a list or an object that is not JSON; the message names the field
        raise ConfigurationError(f"{owner.model_config.get('env_prefix', '')}*: {error}") from None
