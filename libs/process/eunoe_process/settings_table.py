"""Settings classes as a table: which variables exist, what is in force, where it came from, and what is a typing mistake."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from dotenv import dotenv_values
from eunoe_contracts.errors import ConfigurationError
from pydantic import AliasChoices, BeforeValidator, SecretBytes, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsError

Owner: TypeAlias = type[BaseSettings]
Loaded = TypeVar("Loaded", bound=BaseSettings)
DOTENV = Path(".env")
OURS = re.compile(r"EUNOE_[A-Z0-9]+__[A-Z0-9_]+\Z")
"""Only names of this form are ours for certain; orchestrators inject `EUNOE_..._PORT` variables of their own."""


def as_list(value: Any) -> Any:
    """`a, b` as well as `["a", "b"]`: people write the one, orchestrators the other."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [each.strip() for each in value.split(",") if each.strip()]


Names: TypeAlias = Annotated[tuple[str, ...], NoDecode, BeforeValidator(as_list)]
"""A setting with several values."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable. `aliases` are other names that work too."""

    variable: str
    aliases: tuple[str, ...]
    owner: Owner
    field: str
    description: str
    default: str
    is_secret: bool

    @property
    def names(self) -> frozenset[str]:
        """Every name it may be given by, in capitals."""
        return frozenset((self.variable, *self.aliases))


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting in force; `origin` is environment, .env or default. Secrets are hidden."""

    variable: str
    value: str
    origin: str


def settings_of(owners: Iterable[Owner]) -> Iterator[Setting]:
    """Every variable of these classes, each once: of a class and one derived from it, the first that is named owns it."""
    seen: set[str] = set()
    for owner in owners:
        prefix = owner.model_config.get("env_prefix", "")
        for name, info in owner.model_fields.items():
            variable, *aliases = _variables(prefix, name, info)
            if variable not in seen:
                seen.add(variable)
                secret = info.annotation in {SecretStr, SecretBytes}
                yield Setting(variable, tuple(aliases), owner, name, info.description or "", _default(info), secret)


def load(owner: type[Loaded]) -> Loaded:
    """The settings of a class; raises `ConfigurationError` naming the variable."""
    try:
        return owner()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        variable = name if OURS.match(name) else f"{owner.model_config.get('env_prefix', '')}{name}".upper()
        if first["type"] == "missing":
            meaning = owner.model_fields[name].description if name in owner.model_fields else ""
            raise ConfigurationError(f"{variable} is not set, and has no default. {meaning or ''}".rstrip()) from None
        raise ConfigurationError(f"{variable}: {first['msg']}") from None
    except SettingsError as error:  # a list or an object that is not JSON; the message names the field
        raise ConfigurationError(f"{owner.model_config.get('env_prefix', '')}*: {error}") from None


def effective_of(owners: Iterable[Owner], dotenv: Path = DOTENV) -> list[Effective]:
    """Every setting with its value and origin. Raises `ConfigurationError` for a value that is not valid."""
    from_file = {name.upper() for name in _dotenv(dotenv)}
    from_environment = {name.upper() for name in os.environ}
    loaded: dict[Owner, BaseSettings] = {}
    found = []
    for each in settings_of(owners):
        if each.owner not in loaded:
            loaded[each.owner] = load(each.owner)
        origin = "environment" if each.names & from_environment else ".env" if each.names & from_file else "default"
        value = getattr(loaded[each.owner], each.field)
        shown = ("(set)" if value and value.get_secret_value() else "(empty)") if each.is_secret else _written(value)
        found.append(Effective(each.variable, shown, origin))
    return found


def refuse_unknown(
    known: Iterable[Setting],
    *,
    elsewhere: Iterable[str] = (),
    advice: str,
    environment: Mapping[str, str] | None = None,
    dotenv: Path = DOTENV,
) -> None:
    """Raise `ConfigurationError` naming variables of our form that nobody knows: they are typing mistakes.

    `elsewhere` are sections (`EUNOE_<SECTION>__*`) that another process reads, which may be given here too, as one `.env` serves all.
    """
    given = {**_dotenv(dotenv), **(os.environ if environment is None else environment)}
    names = {name for each in known for name in each.names}
    foreign = tuple(f"EUNOE_{each}__" for each in elsewhere)
    unknown = sorted(
        name for name in given if OURS.match(name.upper()) and name.upper() not in names and not name.upper().startswith(foreign)
    )
    if unknown:
        raise ConfigurationError(f"unknown setting {', '.join(unknown)}; {advice}")


def section_of(owner: Owner) -> str:
    """`GATEWAY` of `EUNOE_GATEWAY__`; empty for a class without such a prefix."""
    prefix = str(owner.model_config.get("env_prefix", ""))
    return prefix.removeprefix("EUNOE_").removesuffix("__") if prefix.startswith("EUNOE_") else ""


def _variables(prefix: str, name: str, info: FieldInfo) -> list[str]:
    alias = info.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    if isinstance(alias, str):
        return [alias]
    return [f"{prefix}{name}".upper()]


def _default(info: FieldInfo) -> str:
    if info.is_required() or info.default_factory is not None or isinstance(info.default, SecretStr | SecretBytes):
        return ""
    return "" if info.default is None else _written(info.default)


def _written(value: Any) -> str:
    """A value as one writes it into `.env`."""
    return ",".join(str(each) for each in value) if isinstance(value, tuple) else str(value)


def _dotenv(path: Path) -> dict[str, str]:
    return {name: value for name, value in dotenv_values(path).items() if value is not None} if path.is_file() else {}
