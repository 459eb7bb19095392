"""The loop of one worker process: take a job, run it, answer. Started by the fork server, isolated before the first job."""

from __future__ import annotations

import importlib
import os
import pickle
import shutil
import socket
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import EunoeError

from eunoe_safety.sandbox.frames import read_frame, send_frame, to_json
from eunoe_safety.sandbox.isolation import allow_cpu, isolate
from eunoe_safety.sandbox.limits import Limits

MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Job:
    """A function by its path `module:function`, its arguments, and the CPU seconds it may use."""

    function_path: str
    args: tuple[Any, ...]
    cpu_s: float


def serve(sock: socket.socket, limits: Limits, private: str) -> None:
    """Work until the other side closes. `private` is this worker's own folder, used for temporary files and as working directory."""
    os.chdir(private)
    os.environ["TMPDIR"] = os.environ["HOME"] = tempfile.tempdir = private
    report = isolate(limits, private)
    send_frame(sock, to_json(asdict(report)))
    while (frame := read_frame(sock)) is not None:
        answer = _run(pickle.loads(frame))  # noqa: S301  # written by our own parent, never by a document
        _tidy(private)
        send_frame(sock, answer)


def _run(job: Job) -> bytes:
    allow_cpu(job.cpu_s)
    try:
        return to_json({"result": _load(job.function_path)(*job.args), "rss": resident_bytes()})
    except MemoryError:
        return to_json({"error": MEMORY, "rss": 0})
    except EunoeError as error:
        return to_json({"error": error.code, "message": error.message, "rss": resident_bytes()})
    except BaseException as error:  # noqa: BLE001  # whatever a parser throws is the document's outcome, and its text may quote the document
        return to_json({"error": "exception", "message": type(error).__name__, "rss": resident_bytes()})


def _tidy(private: str) -> None:
    """Remove what the job left behind, so that no document meets files of another."""
    with os.scandir(private) as entries:
        for each in entries:
            if each.is_dir(follow_symlinks=False):
                shutil.rmtree(each, ignore_errors=True)
            else:
                Path(each).unlink()


def _load(function_path: str) -> Callable[..., Any]:
    module, _, name = function_path.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def resident_bytes() -> int:
    """Resident memory of this process; 0 where the system does not say (no /proc)."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
