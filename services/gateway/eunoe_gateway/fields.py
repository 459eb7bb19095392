"""Checks of request fields. Each returns the value as the catalogue stores it, or raises `InvalidField` naming the field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from eunoe_contracts.content import Metadata
from eunoe_contracts.errors import InvalidField
from eunoe_contracts.tenancy import checked_container
from eunoe_stores.catalogue.rows import Page
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from eunoe_gateway.protobuf import moment, plain

DEFAULT_CONTAINER = "default"
MAX_TAGS = 64
MAX_TAG_LENGTH = 256
MAX_NAME_LENGTH = 1024
MAX_KEY_LENGTH = 256
MAX_LIMIT = 1000
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def container(name: str) -> str:
    """The container path; the default one when none is named."""
    return checked_container(name or DEFAULT_CONTAINER)


def identifier(text: str, field: str = "id") -> UUID:
    """A UUID."""
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidField(f"{field}: not a UUID") from error


def line(text: str, field: str, *, limit: int = MAX_NAME_LENGTH) -> str:
    """A short text without control characters."""
    if len(text) > limit:
        raise InvalidField(f"{field}: at most {limit} characters")
    if _CONTROL.search(text):
        raise InvalidField(f"{field}: control characters are not allowed")
    return text


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Tags in the order given, each once."""
    found = tuple(dict.fromkeys(line(each.strip(), "tags", limit=MAX_TAG_LENGTH) for each in values))
    if len(found) > MAX_TAGS:
        raise InvalidField(f"tags: at most {MAX_TAGS}")
    if "" in found:
        raise InvalidField("tags: a tag must not be empty")
    return found


def metadata(values: Struct, *, limit: int) -> Metadata:
    """A JSON object of at most `limit` bytes."""
    try:
        found = plain(values)
    except ValueError as error:  # NaN and infinities are no JSON
        raise InvalidField("metadata: values must be JSON") from error
    if len(json.dumps(found, ensure_ascii=False).encode()) > limit:
        raise InvalidField(f"metadata: at most {limit} bytes of JSON")
    return found


def time(value: Timestamp, field: str) -> datetime:
    """A point in time."""
    try:
        return moment(value)
    except (ValueError, OverflowError) as error:
        raise InvalidField(f"{field}: not a valid time") from error


def page(limit: int, offset: int, *, default: int = 50) -> Page:
    """A window of a list; limit 0 means the default."""
    if limit < 0 or limit > MAX_LIMIT:
        raise InvalidField(f"limit: between 1 and {MAX_LIMIT}")
    if offset < 0:
        raise InvalidField("offset: must not be negative")
    return Page(limit=limit or default, offset=offset)
