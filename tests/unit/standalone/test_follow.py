"""Waiting for the ends of documents that were sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from eunoe.v1 import ingest_pb2, types_pb2
from eunoe_standalone.cli.upload import Item, follow


class Refused(grpc.RpcError):
    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__()
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code


def server(answer: Any) -> Any:
    def get(request: ingest_pb2.GetDocumentRequest, **_: Any) -> ingest_pb2.GetDocumentResponse:
        if request.id == "other":
            return ingest_pb2.GetDocumentResponse(document=types_pb2.Document(id="other", status="done"))
        raise answer

    return SimpleNamespace(ingest=SimpleNamespace(GetDocument=get), metadata=())


def test_a_document_that_is_gone_was_erased_and_the_others_go_on() -> None:
    told: list[Item] = []
    sent = [Item("a.txt", "gone", "queued"), Item("b.txt", "other", "queued")]
    found = follow(server(Refused(grpc.StatusCode.NOT_FOUND)), sent, told.append)
    assert [each.status for each in found] == ["erased", "done"]
    assert [each.failed for each in found] == [True, False]
    assert told == found


def test_other_errors_are_the_callers_to_hear() -> None:
    with pytest.raises(Refused):
        follow(server(Refused(grpc.StatusCode.UNAVAILABLE)), [Item("a.txt", "gone", "queued")], lambda _: None)
