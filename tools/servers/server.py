"""A server process on loopback: started, killed, frozen, restarted on the same ports and data."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from servers.failure import ServerFailure

POLL_S = 0.1
STOP_S = 30.0
LOG_TAIL = 30


class Server(ABC):
    """One server with its data in `folder`. `start` after `stop` or `kill` finds the data again, on the same ports."""

    name: str
    start_s = 120.0
    """Seconds until it must answer; slow machines are slow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def prepare(self) -> None:
        """Install the program if needed and write configuration and empty data. Called before every start; the second time it keeps all."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """What to run."""

    @abstractmethod
    def is_ready(self) -> bool:
        """It answers requests."""

    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Environment variables with which eunoe's processes find it."""

    def environment(self) -> Mapping[str, str]:
        """Variables of the server's process beside ours."""
        return {}

    def user(self) -> str | None:
        """Who runs it, when that must not be root."""
        return None

    @property
    def pid(self) -> int:
        """Of the running process. Raises `ServerFailure`."""
        if self.process is None:
            raise ServerFailure(f"{self.name} does not run")
        return self.process.pid

    @property
    def log(self) -> Path:
        """Everything that it prints."""
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        """Return when it answers. Raises `ServerFailure` with the end of its log."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prepare()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                list(self.command()),
                cwd=self.folder,
                env={**os.environ, **self.environment()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self.user(),
            )
        deadline = time.monotonic() + self.start_s
        while not self.is_ready():
            if self.process.poll() is not None:
                raise ServerFailure(f"{self.name} ended with {self.process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerFailure(f"{self.name} did not answer within {self.start_s:.0f} s:\n{self.log_tail()}")
            time.sleep(POLL_S)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after 30 s. May be called twice."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL. May be called twice."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP: it takes connections and answers nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def log_tail(self) -> str:
        """The last lines of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-LOG_TAIL:])

    def _signal(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def _end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        self._signal(signal.SIGCONT)
        self._signal(number)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self.process.wait(STOP_S)
        self.process = None
