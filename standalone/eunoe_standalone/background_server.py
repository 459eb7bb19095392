"""The same server inside a command's own process, on a private socket, for as long as the command runs."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eunoe_standalone.server import serve_private

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


class _Started:
    """What the server's thread tells the command's thread."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.secret = ""
        self.error: BaseException | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.stop: asyncio.Event | None = None


@contextmanager
def background_server(data_dir: Path) -> Iterator[tuple[str, str]]:
    """Address and secret of a server on this data directory. Raises what its start raises (`DataDirectoryLocked`, ...).

    On leaving, work in flight gets a moment to finish; what is not finished goes on at the next start.
    """
    started = _Started()
    with tempfile.TemporaryDirectory(prefix="eunoe-") as folder:
        address = f"unix:{folder}/grpc.sock"
        thread = threading.Thread(target=_run, args=(data_dir, address, started), name="eunoe-server")
        thread.start()
        try:
            if not started.ready.wait(START_TIMEOUT_S):
                raise TimeoutError("the embedded server did not start")
            if started.error is not None:
                raise started.error
            yield address, started.secret
        finally:
            if started.loop is not None and started.stop is not None and started.loop.is_running():
                started.loop.call_soon_threadsafe(started.stop.set)
            thread.join(STOP_TIMEOUT_S)


def _run(data_dir: Path, address: str, started: _Started) -> None:
    async def main() -> None:
        started.loop, started.stop = asyncio.get_running_loop(), asyncio.Event()

        def tell(secret: str) -> None:
            started.secret = secret
            started.ready.set()

        await serve_private(data_dir, address, on_ready=tell, stop=started.stop)

    try:
        asyncio.run(main())
    except BaseException as error:  # noqa: BLE001 - handed to the command's thread, which raises it
        started.error = error
    finally:
        started.ready.set()
