"""The whole pipeline inside a test: real embedded stores, documents parsed in place, every port replaceable by a faulty one."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from unittest.mock import patch
from uuid import UUID

from eunoe.v1 import admin_pb2, ingest_pb2, memory_pb2, search_pb2, types_pb2
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT, Principal, Scope
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from eunoe_stores.catalogue.rows import DocumentRow
from eunoe_telemetry.clock import SystemClock

from eunoe_standalone import composition
from eunoe_standalone.composition import Composition, compose
from eunoe_standalone.data_directory import DataDirectory, open_data_directory
from eunoe_standalone.parts import load_parts

OPERATOR = Principal(DEFAULT_TENANT, frozenset({Scope.ADMIN}), local_operator=True)
UNREADABLE = "UNREADABLE"
"""A text that starts so has nothing in it for the parser: such a document fails."""

T = TypeVar("T")
Call = Callable[..., Awaitable[Any]]
Around = Callable[[Call, str, tuple[Any, ...], Mapping[str, Any]], Awaitable[Any]]
"""Gets the real call, its name and arguments; does it, or not, or fails before or after it."""
Wrap = Callable[[DataDirectory], DataDirectory]

WITHIN_S = 30.0
"""How long a test looks for what must come. No promise of speed: a crowded machine takes several times as long as a quiet one."""


class Faulty:
    """A port whose awaited calls go through `around`; everything else is the port's own."""

    def __init__(self, port: Any, around: Around) -> None:
        self._port = port
        self._around = around

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def call(*args: Any, **named: Any) -> Any:
            return await self._around(found, name, args, named)

        return call


def faulty(**around: Around) -> Wrap:
    """Stores of which the named ports are `Faulty`."""

    def wrap(stores: DataDirectory) -> DataDirectory:
        ports: dict[str, Any] = {name: Faulty(getattr(stores, name), each) for name, each in around.items()}
        return replace(stores, **ports)

    return wrap


class FastClock:
    """`Clock` on which time runs `speed` times as fast, so that retries and the sweeper need no patience."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._started = (datetime.now(UTC), time.monotonic())

    def now(self) -> datetime:
        """Fast time, UTC."""
        return self._started[0] + timedelta(seconds=(time.monotonic() - self._started[1]) * self._speed)

    def monotonic(self) -> float:
        """Fast seconds."""
        return time.monotonic() * self._speed

    async def sleep(self, seconds: float) -> None:
        """Fewer real seconds."""
        await asyncio.sleep(seconds / self._speed)


class _PlainParser:
    async def parse(self, path: Path, *, format_id: str, name: str) -> ParsedDocument:  # noqa: ARG002 - the port
        text = await asyncio.to_thread(path.read_text)
        if text.startswith(UNREADABLE):
            return ParsedDocument(format_id)
        return ParsedDocument(format_id, blocks=tuple(Block(BlockKind.PARAGRAPH, each) for each in text.split("\n\n")))


class PlainParsers:
    """Takes the place of `ParserPool`: texts only, in this process, at once."""

    def __init__(self, *_: object) -> None:
        self.parser = _PlainParser()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return

    async def probe(self) -> tuple[bool, str]:
        """Always ready."""
        return True, ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A running pipeline and the calls that tests of its promises make."""

    parts: Composition

    @property
    def stores(self) -> DataDirectory:
        """Its stores, as the services see them."""
        return self.parts.stores

    async def post(self, text: str, *, name: str = "", custom_id: str = "", container: str = "notes", key: str = "") -> UUID:
        """Post a text; returns the document's id."""
        info = ingest_pb2.ContentInfo(container=container, name=name, custom_id=custom_id, idempotency_key=key)
        answer = await self.parts.application.ingest(OPERATOR, ingest_pb2.IngestRequest(info=info, text=text))
        return UUID(answer.acceptance.id)

    async def row(self, document: UUID) -> DocumentRow | None:
        """The catalogue's row."""
        return await self.stores.catalogue.document(DEFAULT_TENANT, document)

    async def ended(self, document: UUID, status: DocumentStatus = DocumentStatus.DONE, *, within_s: float = WITHIN_S) -> DocumentRow:
        """The row once it has that status. Raises `AssertionError` after the time."""

        async def has_status() -> DocumentRow | None:
            row = await self.row(document)
            return row if row is not None and row.status is status else None

        async def last() -> str:
            row = await self.row(document)
            return "gone" if row is None else f"{row.status} {row.error_code} { ({k.value: v.state.value for k, v in row.stages.items()}) }"

        found = await until(has_status, within_s=within_s, what=lambda: f"document not {status}", last=last)
        if found is None:
            raise AssertionError("until returns what is true only")
        return found

    async def delete(self, document: UUID) -> None:
        """Erase it."""
        await self.parts.application.delete_document(OPERATOR, str(document))

    async def cancel(self, document: UUID) -> types_pb2.Document:
        """Cancel it."""
        return await self.parts.application.cancel_document(OPERATOR, str(document))

    async def letters(self, document: UUID) -> list[admin_pb2.DeadLetter]:
        """Its dead letters that were not replayed."""
        answer = await self.parts.application.dead_letters(OPERATOR, admin_pb2.DeadLettersRequest(document_id=str(document)))
        return list(answer.dead_letters)

    async def replay(self, document: UUID) -> int:
        """Replay its dead letters; returns how many."""
        answer = await self.parts.application.replay(OPERATOR, admin_pb2.ReplayRequest(document_id=str(document)))
        return int(answer.replayed)

    async def memory(self, word: str) -> UUID:
        """Id of the extracted memory that has the word in it."""
        answer = await self.parts.application.list_memories(OPERATOR, memory_pb2.ListMemoriesRequest())
        return next(UUID(each.id) for each in answer.memories if word in each.content)

    async def hits(self, query: str) -> list[str]:
        """Ids of the documents found."""
        answer = await self.parts.application.search(OPERATOR, search_pb2.SearchRequest(query=query, limit=50))
        return [each.document_id for each in answer.results]

    async def contents(self, query: str) -> list[str]:
        """Texts found."""
        answer = await self.parts.application.search(OPERATOR, search_pb2.SearchRequest(query=query, limit=50))
        return [each.content for each in answer.results]


async def until(
    check: Callable[[], Awaitable[T]],
    *,
    within_s: float = WITHIN_S,
    what: Callable[[], str] = lambda: "not reached",
    last: Callable[[], Awaitable[str]] | None = None,
) -> T:
    """The first true answer of `check`. Raises `AssertionError` after the time."""
    deadline = time.monotonic() + within_s
    while not (found := await check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what()}: {await last() if last else ''}")
        await asyncio.sleep(0.01)
    return found


@asynccontextmanager
async def pipeline(
    folder: Path,
    *,
    wrap: Wrap = lambda stores: stores,
    clock: Clock | None = None,
    drain_s: float = 5.0,
    event_retention_s: float = 604_800.0,
    **gateway: Any,
) -> AsyncIterator[Pipeline]:
    """A pipeline on the folder, without a model. `gateway` are fields of `GatewaySettings`; `drain_s=0` leaves as a kill does."""

    @asynccontextmanager
    async def opened(path: Path, *, clock: Clock, ids: Ids) -> AsyncIterator[DataDirectory]:
        async with open_data_directory(path, clock=clock, ids=ids) as stores:
            yield wrap(stores)

    with patch.dict(os.environ, {"EUNOE_MODELS__PROFILE": "none"}):
        parts = load_parts()
    settings = replace(parts, gateway=parts.gateway.model_copy(update=gateway))
    with patch.object(composition, "open_data_directory", opened), patch.object(composition, "ParserPool", PlainParsers):
        running = compose(
            folder,
            settings,
            operator_secret="",
            low_disk_bytes=0,
            drain_s=drain_s,
            event_retention_s=event_retention_s,
            clock=clock or SystemClock(),
        )
        async with running as composed:
            yield Pipeline(composed)
