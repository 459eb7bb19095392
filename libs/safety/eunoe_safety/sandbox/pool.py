"""A pool of isolated worker processes that asyncio code hands jobs to, and that survives whatever a job does to its worker."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import tempfile
from collections import deque
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from eunoe_contracts.errors import (
    BudgetExceeded,
    EunoeError,
    ParserCrashed,
    ParserMemoryExceeded,
    ParserTimeout,
    WorkerUnavailable,
    error_type,
)

from eunoe_safety.sandbox.frames import FrameTooLarge
from eunoe_safety.sandbox.handle import Exit, ServerLink, Worker
from eunoe_safety.sandbox.isolation import SandboxReport
from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.worker import MEMORY, Job

EXIT_REPORT_S = 5.0
NEARLY_FULL = 0.7  # of the memory limit: a worker that died by a signal up there most likely died of it
START_TRIES = 3


class Counts(Protocol):
    """The one method of `eunoe_telemetry.metrics.Metrics` that the pool needs."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        ...


class WorkerPool:
    """Runs functions in worker processes that can be killed.

    `preload` names modules that the fork server imports once, so that a new worker starts in milliseconds. They must not start
    threads. `start` returns at once while the server imports; `run` starts the pool when nobody has. One event loop only.
    """

    def __init__(self, limits: Limits, workers: int, preload: tuple[str, ...] = (), metrics: Counts | None = None) -> None:
        self._limits = limits
        self._size = max(1, workers)
        self._preload = preload
        self._metrics = metrics
        self._ids = count(1)
        self._idle: deque[Worker] = deque()
        self._alive: dict[str, Worker] = {}
        self._slots = asyncio.Semaphore(self._size)
        self._starting = asyncio.Lock()
        self._server: ServerLink | None = None
        self._folder: Path | None = None
        self.report: SandboxReport | None = None

    async def start(self) -> None:
        """Start the fork server and its workers. Returns before they are ready; does nothing when they run already.

        Raises `WorkerUnavailable` when the system gives no process.
        """
        async with self._starting:
            if self._server is not None and not self._server.gone:
                return
            await self._stop_server()
            try:
                self._folder = self._folder or Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="eunoe-parsers-"))
                self._server = ServerLink(self._limits, self._preload, self._ended, self._server_gone)
                for _ in range(self._size):
                    self._idle.append(await self._spawn(self._server))
            except OSError as error:
                raise WorkerUnavailable(f"no parser process could be started ({type(error).__name__})") from error

    async def stop(self) -> None:
        """Kill the workers, end the server, remove all private folders. Running jobs fail as `WorkerUnavailable`. May be called twice."""
        async with self._starting:
            await self._stop_server()
            if self._folder is not None:
                await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
                self._folder = None

    async def run(self, function_path: str, *args: Any, wall_s: float | None = None) -> Any:
        """Run `module:function` with picklable `args` in a worker; returns its result, which must be JSON data.

        Raises `ParserTimeout` (wall or CPU time), `ParserMemoryExceeded`, `BudgetExceeded` (result too large), `ParserCrashed` (signal,
        or an exception, of which only the type is told), the function's own error when it is one of ours, and `WorkerUnavailable`
        when no worker came free in `queue_s` or could be started. Cancelling kills the worker. The next job is not affected.
        """
        try:
            async with asyncio.timeout(self._limits.queue_s):
                await self._slots.acquire()
        except TimeoutError:
            raise WorkerUnavailable("all parser processes are busy") from None
        try:
            worker = await self._take()
            job = Job(function_path, args, self._limits.cpu_s)
            return self._unpack(await self._call(worker, job, self._limits.wall_s if wall_s is None else wall_s))
        finally:
            self._slots.release()

    async def _take(self) -> Worker:
        for _ in range(START_TRIES):
            await self.start()
            while self._idle:
                worker = self._idle.popleft()
                if not worker.ended.done():
                    return worker
            if self._server is not None and not self._server.gone:
                with contextlib.suppress(OSError):
                    return await self._spawn(self._server)
        raise WorkerUnavailable

    async def _spawn(self, server: ServerLink) -> Worker:
        worker_id = str(next(self._ids))
        folder = Path(str(self._folder)) / worker_id
        folder.mkdir(mode=0o700)
        worker = await server.spawn(worker_id, str(folder))
        self._alive[worker_id] = worker
        return worker

    async def _call(self, worker: Worker, job: Job, wall_s: float) -> dict[str, Any]:
        answer: dict[str, Any] | None = None
        reason = "cancelled"
        try:
            async with asyncio.timeout(wall_s):
                answer = await worker.call(job, self._limits.result_bytes)
        except TimeoutError:
            reason = "timeout"
            raise ParserTimeout(f"reading the document took longer than {wall_s:g} s and was stopped") from None
        except FrameTooLarge:
            reason = "result"
            raise BudgetExceeded("the text of the document is larger than this server accepts") from None
        except ValueError:
            reason = "protocol"
            raise ParserCrashed("the parser gave an answer that is not valid") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            error = self._judge(await self._exit_of(worker))
            reason = error.code
            raise error from None
        finally:
            await self._hand_back(worker, answer, reason)
        return answer

    @staticmethod
    async def _exit_of(worker: Worker) -> Exit | None:
        """How the worker ended; None when that is not known: the fork server died, or the worker closed its socket and lives on."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EXIT_REPORT_S):
                return await asyncio.shield(worker.ended)
        return None

    def _judge(self, ended: Exit | None) -> EunoeError:
        if ended is None:
            return WorkerUnavailable("the parser processes were stopped")
        if ended.code == -signal.SIGXCPU:
            return ParserTimeout(f"reading the document took more than {self._limits.cpu_s:g} s of CPU time and was stopped")
        nearly_full = ended.peak_bytes > self._limits.memory_bytes * NEARLY_FULL
        if ended.code == -signal.SIGKILL or (ended.code < 0 and nearly_full):
            return ParserMemoryExceeded()
        return ParserCrashed(f"the parser was ended by signal {-ended.code}" if ended.code < 0 else f"the parser exited with {ended.code}")

    async def _hand_back(self, worker: Worker, answer: dict[str, Any] | None, reason: str) -> None:
        """Keep a worker that answered and is neither old nor fat; replace any other."""
        if worker.report and self.report is None:
            self.report = SandboxReport(**worker.report)
        fat = answer is not None and (answer.get("error") == MEMORY or int(answer.get("rss", 0)) > self._limits.recycle_rss_bytes)
        old = worker.jobs >= self._limits.jobs_per_worker
        if answer is not None and not fat and not old:
            self._idle.append(worker)
            return
        if self._metrics is not None:
            self._metrics.count("parser_restarts_total", reason=reason if answer is None else "memory" if fat else "recycled")
        worker.close()
        server = self._server
        if server is not None and not server.gone:
            server.kill(worker.id)
            with contextlib.suppress(OSError):
                self._idle.append(await self._spawn(server))

    @staticmethod
    def _unpack(answer: dict[str, Any]) -> Any:
        code, message = answer.get("error"), str(answer.get("message", ""))
        if code is None:
            return answer.get("result")
        if code == MEMORY:
            raise ParserMemoryExceeded
        if code == "exception":
            raise ParserCrashed(f"the parser failed with {message[:80]}")
        raise error_type(str(code))(message[:500])

    def _ended(self, worker_id: str, how: Exit) -> None:
        worker = self._alive.pop(worker_id, None)
        if worker is None:
            return
        if not worker.ended.done():
            worker.ended.set_result(how)
        worker.close()
        shutil.rmtree(worker.folder, ignore_errors=True)

    def _server_gone(self) -> None:
        for worker in self._alive.values():
            if not worker.ended.done():
                worker.ended.set_result(None)
            worker.close()
        self._alive.clear()
        self._idle.clear()

    async def _stop_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()
        self._server_gone()
