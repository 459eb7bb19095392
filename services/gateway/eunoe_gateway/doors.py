"""Both public doors on their addresses: the HTTP one and the gRPC one, in one process and in many."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import ConfigurationError
from eunoe_process.http_listener import http_listener
from eunoe_process.listening import Address, bound_socket
from eunoe_stores.catalogue.port import TokenCatalogue
from eunoe_stream.subscription import AddServicer
from eunoe_telemetry.metrics import Metrics

from eunoe_gateway.application import Application
from eunoe_gateway.config import AuthSettings, DoorSettings, GatewaySettings
from eunoe_gateway.grpc_door.server import build_server
from eunoe_gateway.http.app import build_http

STOP_S = 2.0
JSON_ROOM = 1024 * 1024
"""Beside the text a body has metadata; and JSON may write a character as an escape, hence twice the text."""


@dataclass(frozen=True, slots=True)
class DoorParts:
    """What the doors stand before."""

    application: Application
    settings: GatewaySettings
    metrics: Metrics
    clock: Clock
    ids: Ids
    version: str


def addresses_of(settings: DoorSettings) -> tuple[Address, Address]:
    """Where the HTTP and the gRPC door listen. Raises `ConfigurationError` naming the setting."""
    return Address.parse(settings.http, setting="EUNOE_SERVER__HTTP"), Address.parse(settings.grpc, setting="EUNOE_SERVER__GRPC")


@asynccontextmanager
async def http_door(parts: DoorParts, settings: DoorSettings, address: Address) -> AsyncIterator[Address]:
    """The HTTP door while the context lives; yields its address with the port. Raises `ConfigurationError`."""
    listener = bound_socket(address)
    bound = Address(address.host, listener.getsockname()[1])
    app = build_http(
        parts.application,
        metrics=parts.metrics,
        ids=parts.ids,
        is_loopback=bound.is_loopback,
        hosts=(*settings.hosts, bound.host),
        origins=settings.origins,
        max_json_bytes=2 * parts.settings.max_text_bytes + JSON_ROOM,
        version=parts.version,
    )
    async with http_listener(app, listener):
        yield bound


@asynccontextmanager
async def grpc_door(parts: DoorParts, servicers: Iterable[AddServicer], address: str, *, is_loopback: bool) -> AsyncIterator[int]:
    """The gRPC door on HOST:PORT or unix:PATH while the context lives; yields the port. Raises `ConfigurationError`."""
    door = build_server(
        parts.application,
        parts.settings,
        servicers=servicers,
        metrics=parts.metrics,
        clock=parts.clock,
        ids=parts.ids,
        is_loopback=is_loopback,
    )
    port = await door.start(address)
    try:
        yield port
    finally:
        await door.stop(STOP_S)


async def require_token_beyond_loopback(catalogue: TokenCatalogue, auth: AuthSettings, *addresses: Address) -> None:
    """Raises `ConfigurationError` when an address can be reached from elsewhere and no token exists."""
    open_ones = [str(each) for each in addresses if not each.is_loopback]
    given = auth.api_token.get_secret_value() or auth.operator_token.get_secret_value()
    if open_ones and not given and not await catalogue.tokens(None):
        raise ConfigurationError(
            f"{open_ones[0]} can be reached from other machines and no token exists: "
            "create one (eunoe tokens create NAME), or set EUNOE_AUTH__API_TOKEN or EUNOE_AUTH__OPERATOR_TOKEN"
        )
