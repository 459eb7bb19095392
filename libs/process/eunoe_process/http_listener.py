"""An ASGI application on uvicorn, inside our own event loop: the HTTP door, and the admin port of every process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

STOP_S = 5


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the process has its own."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def http_listener(app: Callable[..., Any], listener: socket.socket) -> AsyncIterator[None]:
    """Serve while the context lives; open connections get a few seconds to finish."""
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=STOP_S, server_header=False)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="http")
    try:
        up = asyncio.create_task(server.up.wait())
        await asyncio.wait({up, task}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        yield
    finally:
        server.should_exit = True
        await task
        listener.close()
