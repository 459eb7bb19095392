"""Filters of a request: a JSON object of known names into an `IndexFilter`. An unknown name is refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from eunoe_contracts.content import Kind, Scalar
from eunoe_contracts.errors import InvalidField, UnknownFilter
from eunoe_contracts.tenancy import ancestors, checked_container
from eunoe_stores.vectors.port import IndexFilter
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

KNOWN = ("kinds", "tags", "tags_all", "document_id", "document_ids", "metadata", "since", "until", "latest_only")
"""Every filter there is. `tags`: any of them; `tags_all`: all of them; `since`, `until`: ISO 8601, on the event time."""


def read_filters(filters: Struct, containers: tuple[str, ...]) -> IndexFilter:
    """The filter of a request. Raises `UnknownFilter` with the known names, `InvalidField` for a value of the wrong form."""
    given: dict[str, Any] = MessageToDict(filters)
    unknown = sorted(set(given) - set(KNOWN))
    if unknown:
        raise UnknownFilter(f"unknown filter: {', '.join(unknown)}; known are {', '.join(KNOWN)}")
    documents = [*_strings(given, "document_ids"), *([_string(given, "document_id")] if "document_id" in given else [])]
    return IndexFilter(
        containers=containers,
        kinds=frozenset(_kind(name) for name in _strings(given, "kinds")),
        documents=frozenset(_uuid(each) for each in documents),
        tags_any=frozenset(_strings(given, "tags")),
        tags_all=frozenset(_strings(given, "tags_all")),
        attributes=_attributes(given.get("metadata", {})),
        since=_time(given, "since"),
        until=_time(given, "until"),
        latest_only=_flag(given, "latest_only", default=True),
    )


def read_containers(names: tuple[str, ...], *, inherit: bool) -> tuple[str, ...]:
    """Checked container patterns, each once, in order; with `inherit` also the ancestors. `a.*` matches below `a.`, `*` all."""
    found: dict[str, None] = {}
    for name in names:
        stem = name.removesuffix("*")
        if stem != name:
            if stem.rstrip("."):
                checked_container(stem.removesuffix("."))
            found[name] = None
            base = stem.removesuffix(".") if stem.endswith(".") else ""
        else:
            found[checked_container(name)] = None
            base = name
        if inherit and base:
            # `a.b.*` inherits from a.b, too, as its members do.
            found.update(dict.fromkeys(([base] if base != name else []) + list(ancestors(base))))
    return () if "*" in found else tuple(found)


def allows(patterns: tuple[str, ...], container: str) -> bool:
    """True when the container is one of the patterns, or matches a prefix pattern; no patterns allow all."""
    return not patterns or any(
        container.startswith(pattern[:-1]) if pattern.endswith("*") else container == pattern for pattern in patterns
    )


def _strings(given: Mapping[str, Any], name: str) -> list[str]:
    value = given.get(name, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(each, str) and each for each in values):
        raise InvalidField(f"filters.{name}: a list of strings is expected")
    return values


def _string(given: Mapping[str, Any], name: str) -> str:
    value = given[name]
    if not isinstance(value, str):
        raise InvalidField(f"filters.{name}: a string is expected")
    return value


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidField("filters.document_id: an id of a document (UUID) is expected") from None


def _kind(name: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        raise InvalidField(f"filters.kinds: known are {', '.join(Kind)}") from None


def _attributes(value: Any) -> dict[str, Scalar]:
    if not isinstance(value, dict) or any(isinstance(each, dict | list) for each in value.values()):
        raise InvalidField("filters.metadata: an object of strings, numbers and booleans is expected")
    # A protobuf Struct knows only doubles; whole numbers are written as integers in metadata.
    return {name: int(each) if isinstance(each, float) and each.is_integer() else each for name, each in value.items()}


def _time(given: Mapping[str, Any], name: str) -> datetime | None:
    if name not in given:
        return None
    try:
        time = datetime.fromisoformat(_string(given, name))
    except ValueError:
        raise InvalidField(f"filters.{name}: a time such as 2026-01-31 or 2026-01-31T12:00:00Z is expected") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _flag(given: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise InvalidField(f"filters.{name}: true or false is expected")
    return value
