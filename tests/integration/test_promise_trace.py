"""A trace that a caller gives, or that begins here, is in the dead letter of whatever stage fails; over both doors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import grpc
import httpx
import pytest
from eunoe.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc
from eunoe_contracts.errors import CapabilityUnavailable
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.trace import HEADER
from eunoe_gateway.http.app import build_http
from eunoe_standalone.parts import load_parts
from eunoe_standalone.server import grpc_listener
from eunoe_standalone.testing_pipeline import UNREADABLE, Call, Pipeline, faulty, pipeline
from eunoe_stores.graph.port import NodeKind

ID = "4bf92f3577b34da6a3ce929d0e0e4736"
GIVEN = f"00-{ID}-00f067aa0ba902b7-01"
TEXTS = {"extract": UNREADABLE, "embed": "The index refuses this one.", "relate": "Alice likes tea."}


class Doors:
    """Posts a text and shows its dead letter, through one door or the other."""

    def __init__(self, running: Pipeline, http: httpx.AsyncClient, channel: grpc.aio.Channel) -> None:
        self._running, self._http = running, http
        self._ingest: Any = ingest_pb2_grpc.IngestServiceStub(channel)
        self._admin: Any = admin_pb2_grpc.AdminServiceStub(channel)

    async def post(self, door: str, text: str, trace: str) -> str:
        if door == "http":
            answer = await self._http.post(
                "/v1/documents", json={"content": text, "container": "c"}, headers={HEADER: trace} if trace else {}
            )
            return str(answer.raise_for_status().json()["id"])
        request = ingest_pb2.IngestRequest(info=ingest_pb2.ContentInfo(container="c"), text=text)
        answer = await self._ingest.Ingest(request, metadata=((HEADER, trace),) if trace else None, timeout=10)
        return str(answer.acceptance.id)

    async def letter(self, document: str) -> tuple[str, str]:
        """Stage and trace, the same on both doors."""
        shown = (await self._http.get("/v1/dead-letters", params={"document_id": document})).raise_for_status().json()["dead_letters"]
        listed = (await self._admin.DeadLetters(admin_pb2.DeadLettersRequest(document_id=document), timeout=10)).dead_letters
        (stage,) = {each["stage"] for each in shown} | {each.stage for each in listed}
        (trace,) = {each["trace_id"] for each in shown} | {each.trace_id for each in listed}
        return stage, trace


@asynccontextmanager
async def doors(running: Pipeline) -> AsyncIterator[Doors]:
    app = build_http(running.parts.application, metrics=running.parts.metrics, ids=running.parts.ids, is_loopback=True)
    transport = httpx.ASGITransport(app=app)
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as http,
        grpc_listener(running.parts, load_parts(), "127.0.0.1:0", is_loopback=True) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        yield Doors(running, http, channel)


@pytest.mark.parametrize("door", ["http", "grpc"])
@pytest.mark.parametrize("stage", list(TEXTS))
async def test_the_dead_letter_has_the_trace_of_the_call(tmp_path: Path, door: str, stage: str) -> None:
    async def refused(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert" and (stage == "embed" or any(each.kind is NodeKind.MEMORY for each in args[1])):
            raise CapabilityUnavailable
        return await call(*args, **named)

    port = "graph" if stage == "relate" else "vectors"
    async with pipeline(tmp_path, wrap=faulty(**{port: refused})) as running, doors(running) as through:
        ended = DocumentStatus.FAILED if stage != "relate" else DocumentStatus.DONE
        for given in (GIVEN, "", "not a trace"):
            document = await through.post(door, f"{TEXTS[stage]} {given}", given)
            await running.ended(UUID(document), ended)
            found, trace = await through.letter(document)
            assert found == stage
            assert trace == ID if given == GIVEN else (len(trace) == 32 and trace != ID)
