"""What goes to Weaviate and comes back, without a server."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from uuid import UUID

import httpx
import numpy as np
import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import (
    ConfigurationError,
    ContentError,
    InternalError,
    InvalidField,
    ModelMismatch,
    StorageFull,
    StoreUnavailable,
)
from eunoe_stores.vectors.port import IndexRow
from eunoe_stores.vectors.weaviate import errors, names, rows
from eunoe_stores.vectors.weaviate.matching import searchable
from eunoe_stores.vectors.weaviate.schema import Label
from hypothesis import given
from hypothesis import strategies as st
from weaviate import exceptions as weaviate

ROW = IndexRow(
    key=UUID(int=1),
    public_id=UUID(int=2),
    document=UUID(int=3),
    generation=4,
    container="50%.what?",
    kind=Kind.FACT,
    body="zebra",
    context="lion zebra",
    vector=None,
    parent=UUID(int=5),
    position=6,
    is_turn=False,
)


@given(st.text(), st.text())
def test_an_escaped_prefix_is_the_prefix_of_the_escaped(first: str, second: str) -> None:
    assert names.escaped(first + second) == names.escaped(first) + names.escaped(second)
    assert not set("*?") & set(names.escaped(first))
    assert names.unescaped(names.escaped(first)) == first


def test_tenants_that_differ_in_case_only() -> None:
    assert names.tenant_shard("acme") != names.tenant_shard("Acme")
    assert names.tenant_shard("a" * 64).isalnum()
    with pytest.raises(InvalidField):
        names.tenant_shard("../t")


def test_attributes_are_equal_as_in_the_embedded_mode() -> None:
    assert names.attribute_token("page", 1) == names.attribute_token("page", 1.0)
    several = [("page", 1), ("page", True), ("page", "1"), ("page", 1.5), ("page", None), ("pages", 1)]
    assert len({names.attribute_token(*each) for each in several}) == len(several)


def test_a_row_comes_back_as_it_was() -> None:
    properties = rows.entry(ROW).properties
    found = rows.reference(ROW.key, properties)
    assert (found.container, found.kind, found.parent, found.position, found.is_turn) == ("50%.what?", Kind.FACT, UUID(int=5), 6, False)
    assert "time" not in properties
    assert "tags" not in properties
    assert rows.entry(ROW).object().vector == {}


def test_a_vector_that_is_not_finite_is_refused() -> None:
    for value in ("nan", "inf"):
        with pytest.raises(InternalError):
            rows.entry(replace(ROW, vector=np.full(4, float(value), np.float32)))


def test_tokens_that_would_be_cut_are_left_out() -> None:
    assert searchable(["a", "", "b c", "\t", "*"]) == ["a", "*"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), StoreUnavailable),
        (weaviate.WeaviateConnectionError("secretword"), StoreUnavailable),
        (weaviate.WeaviateTimeoutError("secretword"), StoreUnavailable),
        (weaviate.WeaviateRetryError("secretword", 4), StoreUnavailable),
        (weaviate.WeaviateClosedClientError(), StoreUnavailable),
        (httpx.ReadError("secretword"), StoreUnavailable),
        (weaviate.WeaviateQueryError("Deadline Exceeded", "GRPC"), StoreUnavailable),
        (weaviate.WeaviateQueryError("vector lengths don't match: 4 vs 8", "GRPC"), ModelMismatch),
        (weaviate.WeaviateQueryError('tenant not found: "secretword"', "GRPC"), errors.TenantAbsent),
        (weaviate.WeaviateQueryError("store is read-only", "GRPC"), StorageFull),
        (weaviate.WeaviateQueryError("secretword", "GRPC"), InternalError),
        (weaviate.WeaviateBatchError("rbac: forbidden secretword"), StoreUnavailable),
    ],
)
def test_errors_of_the_client_become_ours_without_their_words(error: Exception, kind: type[Exception]) -> None:
    found = errors.mapped(error)
    assert type(found) is kind
    assert "secretword" not in str(found)


@pytest.mark.parametrize(
    ("messages", "kind", "retryable"),
    [
        (["invalid secretword"], ContentError, False),
        (["invalid secretword", "context deadline exceeded"], StoreUnavailable, True),
        (["inconsistent vector lengths: 4 != 8"], ModelMismatch, False),
        (["shard is read-only"], StorageFull, True),
    ],
)
def test_a_batch_is_tried_again_when_one_of_its_objects_may_be_taken_later(
    messages: list[str], kind: type[Exception], retryable: bool
) -> None:
    found = errors.of_objects(messages, refused=len(messages), sent=9)
    assert (type(found), found.retryable, "secretword" in str(found)) == (kind, retryable, False)


def test_refused_credentials_keep_a_process_from_starting() -> None:
    refused = weaviate.AuthenticationFailedError("no")
    assert isinstance(errors.at_start(refused), ConfigurationError)
    assert isinstance(errors.mapped(refused), StoreUnavailable)
    assert isinstance(errors.at_start(TimeoutError()), StoreUnavailable)


def test_a_label_comes_back_as_it_was() -> None:
    label = Label(model="minilm", dimensions=384)
    assert Label.read(label.text(), "name") == label
    for other in (None, "", "somebody's", "[]", '{"unknown": 1}'):
        with pytest.raises(ConfigurationError):
            Label.read(other, "name")


async def test_the_settings_are_read_without_the_client() -> None:
    program = "import sys, eunoe_stores.vectors.weaviate.config; assert 'weaviate' not in sys.modules"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await process.wait() == 0
