"""Strict JSON (RFC 8259, I-JSON where it matters) and JSON objects as protobuf structs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from eunoe_contracts.errors import InvalidField, InvalidRequest
from google.protobuf.struct_pb2 import Struct

MAX_DEPTH = 30
"""A struct takes three protobuf messages per level, and protobuf readers stop at 100."""
MAX_EXACT = 2**53
"""Numbers of a struct are doubles; whole numbers beyond this lose digits."""


def parse_json(text: str) -> Any:
    """The value. Raises `InvalidRequest` for text that is no JSON (also NaN, infinities, numbers that overflow, an excess of
    nesting) and `InvalidField` for a lone surrogate, which JSON can carry and UTF-8 cannot.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("the body is not valid JSON") from error
    _check(value)
    return value


def struct_of(field: str, values: Mapping[str, Any]) -> Struct:
    """A JSON object as a struct; raises `InvalidField` for whole numbers that a double cannot hold."""
    for _, _, each in _walk(values):
        if isinstance(each, int) and abs(each) > MAX_EXACT:
            raise InvalidField(f"{field}: whole numbers beyond 2^53 lose digits in JSON; send them as text")
    made = Struct()
    made.update(values)
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _check(value: Any) -> None:
    for name, depth, each in _walk(value):
        if depth > MAX_DEPTH:
            raise InvalidRequest(f"{name or 'the body'} is nested deeper than {MAX_DEPTH} levels")
        if isinstance(each, str) and not _is_unicode(each):
            raise InvalidField(f"{name or 'the body'}: has a lone surrogate, which is not a character")


def _walk(value: Any) -> Any:
    """(name of the top field, depth, value) of everything inside, names of fields too; not recursive, so no depth can break it."""
    todo: list[tuple[str, int, Any]] = [("", 0, value)]
    while todo:
        name, depth, each = todo.pop()
        yield name, depth, each
        if isinstance(each, Mapping):
            for key, below in each.items():
                yield name, depth, key
                todo.append((name or key[:100], depth + 1, below))
        elif isinstance(each, list):
            todo.extend((name, depth + 1, below) for below in each)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
