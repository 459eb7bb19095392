from __future__ import annotations

from uuid import uuid5

from eunoe_contracts import identity
from hypothesis import given
from hypothesis import strategies as st

words = st.text(max_size=20)


@given(words, words, words, words)
def test_parts_do_not_run_together(a: str, b: str, c: str, d: str) -> None:
    one = identity.document_id(a, container=b, content_sha256="0", content_type=c, name=d)
    other = identity.document_id(a + b, container="", content_sha256="0", content_type=c, name=d)
    assert (one == other) == (b == "")


def test_ids_are_stable_across_releases() -> None:
    document = identity.document_id("default", container="a", content_sha256="00", content_type="text", name="n")
    assert str(document) == str(uuid5(identity.NAMESPACE, '["document","default","a","00","text","n"]'))
    assert identity.passage_id(document, 0) != identity.passage_id(document, 1)
    assert identity.row_key(document, 1) != identity.row_key(document, 2)


def test_equal_statements_are_one_memory() -> None:
    one = identity.memory_id("t", "c", "fact", "Anna lives in  Oslo.")
    assert one == identity.memory_id("t", "c", "fact", "anna lives in oslo")
    assert one != identity.memory_id("t", "d", "fact", "anna lives in oslo")
