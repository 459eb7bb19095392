from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import search_pb2
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import CapabilityUnavailable, EmptyContent, InvalidField, UnknownFilter
from eunoe_search.filters import KNOWN, allows
from eunoe_search.query import Fusion, Mode, Query, read_query

DOCUMENT = "0b0e5f3a-92a5-5c4f-8f6e-0c2f8d1f6a11"


def read(query: str = "bread", *, filters: dict[str, Any] | None = None, has_model: bool = True, **fields: Any) -> Query:
    request = search_pb2.SearchRequest(query=query, **fields)
    request.filters.update(filters or {})
    return read_query(request, default_fusion="minmax", has_model=has_model)


def test_defaults() -> None:
    query = read("  bread ")
    assert (query.text, query.limit, query.offset, query.mode, query.fusion) == ("bread", 10, 0, Mode.HYBRID, Fusion.MINMAX)
    assert query.where.latest_only
    assert query.where.containers == ()


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(EmptyContent):
        read(text)


def test_an_unknown_filter_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownFilter) as caught:
        read(filters={"colour": "red", "kinds": ["fact"]})
    assert "colour" in caught.value.message
    assert all(name in caught.value.message for name in KNOWN)
    assert caught.value.http_status == 422


def test_every_filter_is_read() -> None:
    where = read(
        filters={
            "kinds": ["passage", "fact"],
            "tags": ["a"],
            "tags_all": ["b", "c"],
            "document_id": DOCUMENT,
            "metadata": {"year": 2024, "ratio": 0.5, "draft": False, "owner": "ann", "none": None},
            "since": "2024-01-01",
            "until": "2024-02-01T12:00:00+02:00",
            "latest_only": False,
        }
    ).where
    assert where.kinds == {Kind.PASSAGE, Kind.FACT}
    assert (where.tags_any, where.tags_all) == ({"a"}, {"b", "c"})
    assert where.documents == {UUID(DOCUMENT)}
    assert where.attributes == {"year": 2024, "ratio": 0.5, "draft": False, "owner": "ann", "none": None}
    assert isinstance(where.attributes["year"], int)
    assert where.since == datetime(2024, 1, 1, tzinfo=UTC)
    assert where.until == datetime(2024, 2, 1, 10, tzinfo=UTC)
    assert not where.latest_only


@pytest.mark.parametrize(
    "filters",
    [
        {"kinds": ["novel"]},
        {"kinds": 3},
        {"tags": [1]},
        {"tags": [""]},
        {"document_id": "seven"},
        {"document_ids": [DOCUMENT, "x"]},
        {"metadata": "x"},
        {"metadata": {"a": {"b": 1}}},
        {"since": "yesterday"},
        {"until": 5},
        {"latest_only": "yes"},
    ],
)
def test_a_wrong_value_names_its_filter(filters: dict[str, Any]) -> None:
    with pytest.raises(InvalidField, match=r"^filters\."):
        read(filters=filters)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"limit": 101}, "limit"),
        ({"limit": -1}, "limit"),
        ({"offset": -1}, "offset"),
        ({"offset": 1_000_000}, "offset"),
        ({"mode": "magic"}, "mode"),
        ({"fusion": "sum"}, "fusion"),
        ({"containers": [""]}, "container"),
        ({"containers": ["a..b"]}, "container"),
        ({"containers": ["a*b"]}, "container"),
        ({"containers": ["a"] * 101}, "containers"),
        ({"query": "x" * 10_001}, "query"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidField, match=f"^{name}"):
        read(**fields)


def test_the_past_is_refused_only_when_asked() -> None:
    request = search_pb2.SearchRequest(query="bread")
    request.as_of.FromDatetime(datetime(2024, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidField, match="as_of"):
        read_query(request, default_fusion="minmax", has_model=True)


def test_vector_mode_needs_a_model() -> None:
    assert read(mode="vector").mode is Mode.VECTOR
    with pytest.raises(CapabilityUnavailable, match="model"):
        read(mode="vector", has_model=False)


@pytest.mark.parametrize(
    ("given", "inherit", "expected"),
    [
        (["a.b.c"], False, ("a.b.c",)),
        (["a.b.c"], True, ("a.b.c", "a.b", "a")),
        (["a.b", "a.c"], True, ("a.b", "a", "a.c")),
        (["a.b.*"], False, ("a.b.*",)),
        (["a.b.*"], True, ("a.b.*", "a.b", "a")),
        (["a.b*"], True, ("a.b*",)),
        (["a", "*"], False, ()),
        ([], True, ()),
    ],
)
def test_containers(given: list[str], inherit: bool, expected: tuple[str, ...]) -> None:
    assert read(containers=given, inherit=inherit).where.containers == expected


def test_patterns_match_as_in_the_index() -> None:
    assert allows((), "anything")
    assert allows(("a.b",), "a.b")
    assert not allows(("a.b",), "a.b.c")
    assert allows(("a.*",), "a.b")
    assert not allows(("a.*",), "ab")
