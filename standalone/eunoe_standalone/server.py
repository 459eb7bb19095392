"""The server: a composition with listeners, for a person (`eunoe serve`) or for one command (a private socket)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import structlog
from eunoe_contracts.errors import ConfigurationError, EunoeError
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_gateway.grpc_door.server import build_server
from eunoe_gateway.http.app import build_http
from eunoe_telemetry.logging import configure_logging

from eunoe_standalone import rendezvous
from eunoe_standalone.composition import Composition, compose
from eunoe_standalone.garbage import spare_what_is_loaded
from eunoe_standalone.http_listener import http_listener
from eunoe_standalone.listening import Address, bound_socket
from eunoe_standalone.parts import PartSettings, load_parts
from eunoe_standalone.rendezvous import RunningServer
from eunoe_standalone.settings import ServerSettings
from eunoe_standalone.settings_catalogue import load
from eunoe_standalone.version import VERSION

log = structlog.get_logger("eunoe")
PRIVATE_DRAIN_S = 2.0
STOP_S = 2.0
JSON_ROOM = 1024 * 1024
"""Beside the text a body has metadata; and JSON may write a character as an escape, hence twice the text."""


async def run_server(settings: ServerSettings) -> None:
    """Serve until SIGINT or SIGTERM. Raises `ConfigurationError`, `DataDirectoryLocked`, `ModelMismatch` at start."""
    configure_logging(settings.log_level, settings.log_format)
    parts = load_parts()
    http, grpc = Address.parse(settings.http, setting="EUNOE_SERVER__HTTP"), Address.parse(settings.grpc, setting="EUNOE_SERVER__GRPC")
    stop = stop_on_signals()
    data_dir = settings.data_dir.expanduser().absolute()
    secret = secrets.token_urlsafe(32)
    async with composed(data_dir, settings, parts, secret, drain_s=settings.drain_s) as running:
        await require_token_beyond_loopback(running, parts, http, grpc)
        listener = bound_socket(http)
        http = Address(http.host, listener.getsockname()[1])
        app = build_http(
            running.application,
            metrics=running.metrics,
            ids=running.ids,
            is_loopback=http.is_loopback,
            hosts=(*settings.hosts, http.host),
            origins=settings.origins,
            max_json_bytes=2 * parts.gateway.max_text_bytes + JSON_ROOM,
            version=VERSION,
        )
        async with (
            http_listener(app, listener),
            grpc_listener(running, parts, str(grpc), is_loopback=grpc.is_loopback) as port,
        ):
            grpc = Address(grpc.host, port)
            spare_what_is_loaded()
            rendezvous.publish(data_dir, RunningServer(os.getpid(), str(http), str(grpc), secret, VERSION))
            try:
                # Ready comes first: a search that is earlier waits for the same loading.
                warming = asyncio.create_task(warm(running))
                log.info("ready", http=f"http://{http}", grpc=str(grpc), data_dir=str(data_dir), model=model_note(running))
                await stop.wait()
                log.info("stopping")
                warming.cancel()
            finally:
                rendezvous.withdraw(data_dir)


async def serve_private(data_dir: Path, address: str, *, on_ready: Callable[[str], None], stop: asyncio.Event) -> None:
    """Serve gRPC on a private socket until `stop` is set; for a command that found no server."""
    configure_logging("warning")
    settings, parts, secret = load(ServerSettings), load_parts(), secrets.token_urlsafe(32)
    async with (
        composed(data_dir, settings, parts, secret, drain_s=PRIVATE_DRAIN_S) as running,
        grpc_listener(running, parts, address, is_loopback=True),
    ):
        if running.loaded.model is None and parts.models.profile != "none":
            log.warning("words only", reason=running.loaded.reason)  # else nobody would know that vectors are missing
        on_ready(secret)
        await stop.wait()


def composed(
    data_dir: Path, settings: ServerSettings, parts: PartSettings, secret: str, *, drain_s: float
) -> AbstractAsyncContextManager[Composition]:
    """`compose` with the limits of the server's settings."""
    return compose(
        data_dir,
        parts,
        operator_secret=secret,
        low_disk_bytes=settings.queue_low_disk_bytes,
        drain_s=drain_s,
        event_retention_s=settings.event_retention_s,
    )


@asynccontextmanager
async def grpc_listener(running: Composition, parts: PartSettings, address: str, *, is_loopback: bool) -> AsyncIterator[int]:
    """The gRPC door on an address; yields the port."""
    door = build_server(
        running.application,
        parts.gateway,
        servicers=running.servicers,
        metrics=running.metrics,
        clock=running.clock,
        ids=running.ids,
        is_loopback=is_loopback,
    )
    port = await door.start(address)
    try:
        yield port
    finally:
        await door.stop(STOP_S)


async def warm(running: Composition) -> None:
    """Load the index of the tenant that callers without a token have. When it cannot be read, the searches say so."""
    with contextlib.suppress(EunoeError):
        await running.stores.vectors.warm(DEFAULT_TENANT)


def model_note(running: Composition) -> str:
    """The model at work, or why there is none."""
    return running.loaded.model.profile.model_id if running.loaded.model else f"none: {running.loaded.reason}"


async def require_token_beyond_loopback(running: Composition, parts: PartSettings, *addresses: Address) -> None:
    """Raises `ConfigurationError` when an address can be reached from elsewhere and no token exists."""
    open_ones = [str(each) for each in addresses if not each.is_loopback]
    if open_ones and not parts.auth.api_token.get_secret_value() and not await running.stores.catalogue.tokens(None):
        raise ConfigurationError(
            f"{open_ones[0]} can be reached from other machines and no token exists: "
            "create one (eunoe tokens create NAME), or set EUNOE_AUTH__API_TOKEN"
        )


def stop_on_signals() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set; a second signal ends the process at once."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    return stop
