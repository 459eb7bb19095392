"""A real `eunoe serve` in a process of its own, for tests of this project and of programs that use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from eunoe_standalone import rendezvous
from eunoe_standalone.rendezvous import RunningServer

START_S = 60.0
STOP_S = 30.0
POLL_S = 0.02


class ServerProcess:
    """A server on a data directory and free loopback ports. It can be killed and started again on the same data."""

    def __init__(self, data_dir: Path, settings: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir
        self.log = data_dir.parent / f"{data_dir.name}.log"
        self._settings = dict(settings or {})
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it serves. Raises `RuntimeError` with its log when it ends instead."""
        command = [str(Path(sys.executable).parent / "eunoe"), "serve", "--data-dir", str(self.data_dir)]
        command += ["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **self._settings})  # noqa: S603 - our own command
        deadline, tick = time.monotonic() + START_S, threading.Event()
        while self._found() is None:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{self.log.read_text(encoding='utf-8', errors='replace')[-4000:]}")
            tick.wait(POLL_S)

    def _found(self) -> RunningServer | None:
        found = rendezvous.find(self.data_dir)
        return found if found and self._process and found.pid == self._process.pid else None

    @property
    def running(self) -> RunningServer:
        """Its addresses and operator secret. Raises `RuntimeError` when it is not running."""
        found = self._found()
        if found is None:
            raise RuntimeError("the server is not running")
        return found

    @property
    def url(self) -> str:
        """Address of the HTTP door."""
        return f"http://{self.running.http}"

    def kill(self) -> None:
        """SIGKILL: no clean-up at all."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; returns the exit code. May be called twice."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._process.wait(STOP_S)


@contextmanager
def serving(data_dir: Path, settings: Mapping[str, str] | None = None) -> Iterator[ServerProcess]:
    """A server while the context lives."""
    server = ServerProcess(data_dir, settings)
    server.start()
    try:
        yield server
    finally:
        server.stop()
