from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, EncryptedDocument, ParserCrashed, ParserMemoryExceeded, ParserTimeout, WorkerUnavailable
from eunoe_safety.sandbox import seccomp
from eunoe_safety.sandbox.isolation import sandbox_report
from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.pool import WorkerPool

JOBS = "eunoe_safety.sandbox.testing:"
MIB = 1024 * 1024
LIMITS = Limits(memory_bytes=512 * MIB, cpu_s=10, wall_s=10, queue_s=10)


class Restarts:
    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        assert name == "parser_restarts_total"
        self.reasons[labels["reason"]] += int(amount)


@pytest.fixture
def restarts() -> Restarts:
    return Restarts()


@pytest.fixture
async def pool(restarts: Restarts) -> AsyncIterator[WorkerPool]:
    made = WorkerPool(LIMITS, 1, metrics=restarts)
    yield made
    await made.stop()


async def next_job_is_fast(pool: WorkerPool) -> None:
    started = time.monotonic()
    assert await pool.run(JOBS + "echo", "next") == "next"
    assert time.monotonic() - started < 3


async def test_result_comes_back_and_the_worker_is_kept(pool: WorkerPool):
    assert await pool.run(JOBS + "echo", {"a": [1, "ä", None]}) == {"a": [1, "ä", None]}
    assert await pool.run(JOBS + "process_id") == await pool.run(JOBS + "process_id")


async def test_start_does_not_wait_and_may_be_called_twice(pool: WorkerPool):
    started = time.monotonic()
    await pool.start()
    await pool.start()
    assert time.monotonic() - started < 1
    assert await pool.run(JOBS + "echo", 1) == 1


async def test_hang_is_stopped_and_the_next_job_proceeds(pool: WorkerPool, restarts: Restarts):
    with pytest.raises(ParserTimeout):
        await pool.run(JOBS + "hang", wall_s=0.5)
    await next_job_is_fast(pool)
    assert restarts.reasons["timeout"] == 1


async def test_cpu_time_is_limited_per_job():
    pool = WorkerPool(Limits(memory_bytes=512 * MIB, cpu_s=0.2, wall_s=30), 1)
    with pytest.raises(ParserTimeout, match="CPU"):
        await pool.run(JOBS + "burn")
    await next_job_is_fast(pool)
    await pool.stop()


async def test_memory_is_limited(pool: WorkerPool):
    with pytest.raises(ParserMemoryExceeded):
        await pool.run(JOBS + "eat_memory")
    await next_job_is_fast(pool)


@pytest.mark.parametrize(
    ("job", "args"), [("die", (int(signal.SIGSEGV),)), ("die", (int(signal.SIGABRT),)), ("read_null", ()), ("leave", (3,))]
)
async def test_crash_is_named_and_the_next_job_proceeds(pool: WorkerPool, job: str, args: tuple[int, ...]):
    with pytest.raises(ParserCrashed):
        await pool.run(JOBS + job, *args)
    await next_job_is_fast(pool)


async def test_kill_from_outside_counts_as_memory(pool: WorkerPool):
    with pytest.raises(ParserMemoryExceeded):
        await pool.run(JOBS + "die", int(signal.SIGKILL))


async def test_own_errors_pass_and_foreign_ones_tell_only_their_type(pool: WorkerPool, restarts: Restarts):
    with pytest.raises(EncryptedDocument, match="needs a password"):
        await pool.run(JOBS + "fail_as_encrypted")
    with pytest.raises(ParserCrashed) as caught:
        await pool.run(JOBS + "fail_with_text", "a secret of the document")
    assert "KeyError" in caught.value.message
    assert "secret" not in caught.value.message
    assert not restarts.reasons


async def test_worker_is_recycled_after_its_jobs(restarts: Restarts):
    pool = WorkerPool(Limits(memory_bytes=512 * MIB, jobs_per_worker=3), 1, metrics=restarts)
    seen = [await pool.run(JOBS + "process_id") for _ in range(7)]
    assert len(set(seen)) == 3
    assert restarts.reasons == {"recycled": 2}
    await pool.stop()


async def test_fat_worker_is_recycled(pool: WorkerPool, restarts: Restarts):
    before = await pool.run(JOBS + "process_id")
    await pool.run(JOBS + "keep_memory", 300 * MIB)
    assert await pool.run(JOBS + "process_id") != before
    assert restarts.reasons == {"memory": 1}


async def test_result_size_is_limited():
    pool = WorkerPool(Limits(memory_bytes=512 * MIB, result_bytes=1000), 1)
    with pytest.raises(BudgetExceeded):
        await pool.run(JOBS + "echo", "x" * 2000)
    await next_job_is_fast(pool)
    await pool.stop()


async def test_waiting_too_long_for_a_worker_is_not_the_documents_fault():
    pool = WorkerPool(Limits(memory_bytes=512 * MIB, queue_s=0.2), 1)
    hanging = asyncio.create_task(pool.run(JOBS + "hang", wall_s=5))
    await asyncio.sleep(0)
    with pytest.raises(WorkerUnavailable) as caught:
        await pool.run(JOBS + "echo", 1)
    assert caught.value.retryable
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await next_job_is_fast(pool)
    await pool.stop()


async def test_jobs_run_side_by_side():
    pool = WorkerPool(LIMITS, 2)
    assert await pool.run(JOBS + "echo", 1) == 1
    hanging = asyncio.create_task(pool.run(JOBS + "hang", wall_s=3))
    await asyncio.sleep(0)
    await next_job_is_fast(pool)
    assert not hanging.done()
    with pytest.raises(ParserTimeout):
        await hanging
    await pool.stop()


async def test_stop_while_a_job_runs_is_not_the_documents_fault(pool: WorkerPool):
    await pool.run(JOBS + "echo", 1)
    hanging = asyncio.create_task(pool.run(JOBS + "hang"))
    await asyncio.sleep(0)
    await pool.stop()
    with pytest.raises(WorkerUnavailable):
        await hanging


async def test_fork_server_killed_is_replaced(pool: WorkerPool):
    worker = await pool.run(JOBS + "process_id")
    os.kill(int(process_fields(worker)[1]), signal.SIGKILL)
    deadline = time.monotonic() + 5
    replaced = False
    while not replaced:
        assert time.monotonic() < deadline
        with contextlib.suppress(WorkerUnavailable):  # the job that was running, or came before the news
            replaced = await pool.run(JOBS + "process_id") != worker


async def test_module_that_cannot_be_preloaded_is_not_the_documents_fault():
    pool = WorkerPool(LIMITS, 1, preload=("eunoe_no_such_module",))
    with pytest.raises(WorkerUnavailable):
        await pool.run(JOBS + "echo", 1)
    await pool.stop()


async def test_no_network_no_programs_no_writing_beside(pool: WorkerPool, tmp_path: Path):
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        pass
    assert await pool.run(JOBS + "connect", port) != "connected"
    server.close()
    await server.wait_closed()
    assert pool.report is not None
    assert pool.report.network in {"unshare", "seccomp"}
    if pool.report.seccomp:
        assert await pool.run(JOBS + "start_program") == "PermissionError"
    if pool.report.read_only:
        victim = tmp_path / "victim"
        victim.write_text("intact", encoding="utf-8")
        assert await pool.run(JOBS + "write_beside", victim) == "PermissionError"
        assert victim.read_text(encoding="utf-8") == "intact"


async def test_worker_sees_neither_secrets_nor_sockets_of_the_parent(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EUNOE_GATEWAY__API_TOKEN", "secret")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        fcntl.fcntl(listening, fcntl.F_SETFD, 0)  # inheritable
        assert "EUNOE_GATEWAY__API_TOKEN" not in await pool.run(JOBS + "environment")
        assert await pool.run(JOBS + "open_sockets") == 1


async def test_temporary_files_are_private_and_gone(pool: WorkerPool):
    left = Path(await pool.run(JOBS + "write_temporary", 10))
    assert permissions(left) is None
    assert permissions(left.parent) == 0o700
    await pool.stop()
    assert permissions(left.parent.parent) is None


def permissions(path: Path) -> int | None:
    return path.stat().st_mode & 0o777 if path.exists() else None


def test_report_for_the_doctor():
    report = sandbox_report()
    assert report.network in {"unshare", "seccomp", "none"}


@pytest.mark.skipif(not seccomp.supported(), reason="the filter is written for Linux on x86-64 and AArch64")
def test_filter_alone_denies_sockets_and_programs():
    script = (
        "from eunoe_safety.sandbox import seccomp, testing\n"
        "installed = seccomp.deny_dangerous_calls()\n"
        "print(installed, testing.connect(1), testing.start_program())\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.split() in (["True", "PermissionError", "PermissionError"], ["False", "ConnectionRefusedError", "started"])


def test_killed_parent_leaves_no_worker_behind(tmp_path: Path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import asyncio, json\n"
        "from eunoe_safety.sandbox.limits import Limits\n"
        "from eunoe_safety.sandbox.pool import WorkerPool\n"
        "async def main():\n"
        "    pool = WorkerPool(Limits(), 1)\n"
        f"    pid = await pool.run('{JOBS}process_id')\n"
        "    print(json.dumps(pid), flush=True)\n"
        f"    await pool.run('{JOBS}hang')\n"
        "asyncio.run(main())\n",
        encoding="utf-8",
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        worker = int(json.loads(parent.stdout.readline()))
        os.kill(worker, 0)
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 10
    while alive(worker):
        assert time.monotonic() < deadline, "the worker outlived its parent"


def alive(pid: int) -> bool:
    try:
        return process_fields(pid)[0] != "Z"
    except OSError:
        return False


def process_fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
