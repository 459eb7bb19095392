"""What a worker gives up before it reads a hostile file: network, core dumps, memory and time without end, life after its parent."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Literal

from eunoe_safety.sandbox import landlock, seccomp
from eunoe_safety.sandbox.limits import Limits

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_PDEATHSIG = 1
PROBE_S = 20.0


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Which walls stand. `network` names the one that keeps the network away: a namespace without interfaces (`unshare`), the
    system call filter (`seccomp`) or `none`, which `doctor` reports as a warning. `read_only` says whether Landlock keeps a worker
    from writing outside its private folder.
    """

    network: Literal["unshare", "seccomp", "none"] = "none"
    seccomp: bool = False
    no_new_privs: bool = False
    read_only: bool = False


def isolate(limits: Limits, private: str) -> SandboxReport:
    """Give up what a parser does not need; for the calling process, for good. Must run single-threaded, after imports that start none.

    Order matters: the namespace before the filter that forbids namespaces, the death signal after the change of credentials, which
    clears it. Limits are set even where the kernel grants no isolation.
    """
    os.setsid()
    if sys.platform != "linux":
        _set_limits(limits)
        return SandboxReport()
    libc = ctypes.CDLL(None, use_errno=True)
    unshared = libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 or libc.unshare(CLONE_NEWNET) == 0
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    no_new_privs = libc.prctl(seccomp.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    read_only = landlock.write_only_below(private)
    filtered = seccomp.deny_dangerous_calls()
    _set_limits(limits)
    network: Literal["unshare", "seccomp", "none"] = "unshare" if unshared else "seccomp" if filtered else "none"
    return SandboxReport(network=network, seccomp=filtered, no_new_privs=no_new_privs, read_only=read_only)


def _set_limits(limits: Limits) -> None:
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.temp_bytes,
        resource.RLIMIT_NOFILE: 256,
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses RLIMIT_AS; the wall limit still holds there
            resource.setrlimit(kind, (ceiling, ceiling))


def allow_cpu(seconds: float) -> None:
    """Let this process use that much more CPU time than it has used so far; beyond it, SIGXCPU ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def sandbox_report() -> SandboxReport:
    """Try the isolation in a short-lived process and say what worked, for `doctor`. Takes about 0.2 s; may be called again.

    Raises nothing: a probe that cannot even start counts as no isolation.
    """
    command = [sys.executable, "-P", "-m", "eunoe_safety.sandbox.isolation"]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=PROBE_S, stdin=subprocess.DEVNULL)  # noqa: S603  # our own module
        return SandboxReport(**json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError):
        return SandboxReport()


if __name__ == "__main__":
    if os.fork() == 0:  # setsid needs a process that leads no group
        sys.stdout.write(json.dumps(asdict(isolate(Limits(), "/nonexistent"))))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
