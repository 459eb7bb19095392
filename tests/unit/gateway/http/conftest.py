"""The HTTP door before the gateway of the parent's `world`; in process, or on a real socket where streaming matters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from eunoe.v1 import admin_pb2
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.config import AuthSettings
from eunoe_gateway.http.app import build_http
from eunoe_gateway.wiring import build_application
from eunoe_process.http_listener import http_listener
from eunoe_process.listening import Address, bound_socket
from eunoe_search.config import SearchSettings
from eunoe_search.wiring import build_searcher
from eunoe_stores.testing import MemoryGraphStore

OPERATOR = Principal("default", frozenset(Scope), local_operator=True)


class Door:
    """The door of a world. Calls without a token are the anonymous caller's (tenant `default`); `token` makes others."""

    def __init__(self, world: Any) -> None:
        self.world = world
        searcher = build_searcher(
            SearchSettings(),
            catalogue=world.catalogue,
            vectors=world.vectors,
            graph=MemoryGraphStore(),
            model=None,
            clock=world.clock,
            metrics=world.metrics,
        )
        world.ports = replace(world.ports, searcher=searcher)
        self.parts: dict[str, tuple[bool, str]] = {"log": (True, "")}
        self.application = build_application(
            world.settings, AuthSettings(api_token=""), world.ports, probes={"log": self._probe}, operator_secret="operator-secret"
        )

    async def _probe(self) -> tuple[bool, str]:
        return self.parts["log"]

    def app(self, **changes: Any) -> Any:
        settings: dict[str, Any] = {"metrics": self.world.metrics, "ids": self.world.ids, "is_loopback": True} | changes
        return build_http(settings.pop("application", self.application), **settings)

    def client(self, *, token: str = "", **changes: Any) -> httpx.AsyncClient:
        """A client in process; the answer comes whole."""
        transport = httpx.ASGITransport(app=self.app(**changes))
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080", headers=headers)

    @asynccontextmanager
    async def listening(self, **changes: Any) -> AsyncIterator[str]:
        """The address of a real listener."""
        listener = bound_socket(Address("127.0.0.1", 0))
        port = listener.getsockname()[1]
        async with http_listener(self.app(**changes), listener):
            yield f"http://127.0.0.1:{port}"

    async def token(self, *scopes: str, tenant: str = "t1", **changes: Any) -> str:
        """The secret of a new token."""
        request = admin_pb2.CreateTokenRequest(tenant=tenant, name="test", scopes=scopes or ("ingest", "search"), **changes)
        return (await self.application.create_token(OPERATOR, request)).secret

    async def untouched(self) -> bool:
        """Nothing was stored, staged or published."""
        documents = await self.application.stats(OPERATOR)
        return (
            documents.stats["documents"]["total"] == 0
            and await self.world.blobs.tenants() == []
            and await self.world.catalogue.count_open() == 0
        )


@pytest.fixture
def door(world: Any) -> Door:
    return Door(world)


@pytest.fixture
async def client(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    async with door.client() as made:
        yield made


@pytest.fixture
async def ours(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    """A client of tenant t1, whose documents `world.process` works on."""
    async with door.client(token=await door.token("admin")) as made:
        yield made
