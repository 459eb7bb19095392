"""The server: a composition with listeners, for a person (`eunoe serve`) or for one command (a private socket)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import structlog
from eunoe_contracts.errors import EunoeError
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_gateway.doors import DoorParts, addresses_of, grpc_door, http_door, require_token_beyond_loopback
from eunoe_process.garbage import spare_what_is_loaded
from eunoe_process.listening import Address
from eunoe_process.stopping import Stop, stop_on_signals
from eunoe_telemetry.logging import configure_logging

from eunoe_standalone import rendezvous
from eunoe_standalone.composition import Composition, compose
from eunoe_standalone.parts import PartSettings, load_parts
from eunoe_standalone.rendezvous import RunningServer
from eunoe_standalone.settings import ServerSettings
from eunoe_standalone.settings_catalogue import load
from eunoe_standalone.version import VERSION

log = structlog.get_logger("eunoe")
PRIVATE_DRAIN_S = 2.0


async def run_server(settings: ServerSettings) -> None:
    """Serve until SIGINT or SIGTERM. Raises `ConfigurationError`, `DataDirectoryLocked`, `ModelMismatch` at start."""
    configure_logging(settings.log_level, settings.log_format)
    parts = load_parts()
    http, grpc = addresses_of(settings)
    stop = Stop()
    stop_on_signals(stop)
    data_dir = settings.data_dir.expanduser().absolute()
    secret = secrets.token_urlsafe(32)
    async with composed(data_dir, settings, parts, secret, drain_s=settings.drain_s) as running:
        await require_token_beyond_loopback(running.stores.catalogue, parts.auth, http, grpc)
        async with (
            http_door(door_parts(running, parts), settings, http) as http,
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


def door_parts(running: Composition, parts: PartSettings) -> DoorParts:
    """What the doors need of a composition."""
    return DoorParts(running.application, parts.gateway, running.metrics, running.clock, running.ids, VERSION)


@asynccontextmanager
async def grpc_listener(running: Composition, parts: PartSettings, address: str, *, is_loopback: bool) -> AsyncIterator[int]:
    """The gRPC door on an address; yields the port."""
    async with grpc_door(door_parts(running, parts), running.servicers, address, is_loopback=is_loopback) as port:
        yield port


async def warm(running: Composition) -> None:
    """Load the index of the tenant that callers without a token have. When it cannot be read, the searches say so."""
    with contextlib.suppress(EunoeError):
        await running.stores.vectors.warm(DEFAULT_TENANT)


def model_note(running: Composition) -> str:
    """The model at work, or why there is none."""
    return running.loaded.model.profile.model_id if running.loaded.model else f"none: {running.loaded.reason}"
