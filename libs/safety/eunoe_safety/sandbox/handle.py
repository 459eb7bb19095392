"""The parent's side of the fork server and of one worker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from eunoe_safety.sandbox.frames import HEADER, read_json
from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.worker import Job

KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ", "VIRTUAL_ENV")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
STOP_S = 5.0


@dataclass(frozen=True, slots=True)
class Exit:
    """How a worker ended: exit code, negative for a signal, and the most memory it ever held, in bytes."""

    code: int
    peak_bytes: int


@dataclass(slots=True)
class Worker:
    """One worker process as the pool sees it. `ended` is set when the fork server reports its end, to None
    when the server itself has ended and nobody can know more.
    """

    id: str
    folder: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    ended: asyncio.Future[Exit | None]
    jobs: int = 0
    ready: bool = False
    report: dict[str, Any] = field(default_factory=dict)

    async def call(self, job: Job, result_limit: int) -> dict[str, Any]:
        """Run a job and return the worker's answer. Raises what `frames.read_json` raises, and `ConnectionError`."""
        if not self.ready:
            self.report = await read_json(self.reader, 65536)
            self.ready = True
        self.jobs += 1
        frame = pickle.dumps(job)
        self.writer.write(HEADER.pack(len(frame)) + frame)
        await self.writer.drain()
        answer = await read_json(self.reader, result_limit)
        if not isinstance(answer, dict):
            raise ValueError  # noqa: TRY004  # as for any other answer that does not follow the protocol
        return answer

    def close(self) -> None:
        """Close the socket; an idle worker then ends by itself. May be called twice."""
        self.writer.close()


class ServerLink:
    """A running fork server and the control socket to it. `gone` is true once the server has ended."""

    def __init__(self, limits: Limits, preload: tuple[str, ...], on_exit: Callable[[str, Exit], None], on_gone: Callable[[], None]) -> None:
        self.gone = False
        self._on_exit = on_exit
        self._on_gone = on_gone
        self._control, theirs = socket.socketpair()
        self._control.settimeout(0)
        with theirs:
            environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ} | ONE_THREAD
            module = "eunoe_safety.sandbox.forkserver"
            arguments = [str(theirs.fileno()), json.dumps(asdict(limits)), *preload]
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-P", "-m", module, *arguments],
                env=environment,
                pass_fds=(theirs.fileno(),),  # and nothing else: no listening socket, no database
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._listener = asyncio.create_task(self._listen(), name="parser-fork-server")

    async def spawn(self, worker_id: str, folder: str) -> Worker:
        """Ask for a worker; returns at once, while the process is still starting. Raises `OSError` when the server is gone."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [f"spawn {worker_id} {folder}\n".encode()], [theirs.fileno()])
        reader, writer = await asyncio.open_connection(sock=ours)
        return Worker(worker_id, folder, reader, writer, asyncio.get_running_loop().create_future())

    def kill(self, worker_id: str) -> None:
        """Have a worker and all it started killed. Unknown or ended workers are ignored."""
        with contextlib.suppress(OSError):
            self._control.send(f"kill {worker_id}\n".encode())

    async def stop(self) -> None:
        """End the server, which kills its workers first. May be called twice."""
        self._listener.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listener
        self._control.close()
        await asyncio.to_thread(self._wait)

    def _wait(self) -> None:
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        buffer = b""
        with contextlib.suppress(ConnectionError):
            while data := await loop.sock_recv(self._control, 65536):
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    _, worker_id, code, peak = line.decode().split(" ")
                    self._on_exit(worker_id, Exit(int(code), int(peak)))
        self.gone = True
        self._on_gone()
