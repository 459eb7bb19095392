"""The process that forks workers: a fresh interpreter with the parsers imported, one thread, no sockets of the parent.

Not `multiprocessing`'s fork server: that one is global to the process, imports the main module again in every child and cannot say
why a child died. Lines on the control socket: `spawn ID FOLDER` (with the worker's socket attached) and `kill ID` come in,
`exit ID STATUS MAXRSS` goes out. When the control socket closes, because the parent has stopped or died, all workers are killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from collections import deque

from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.worker import serve

MAX_FDS = 32


class ForkServer:
    """Children by id, and the two things that wake it: the control socket and a child's death."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control = control
        self._limits = limits
        self._pids: dict[str, int] = {}
        self._buffer = b""
        self._sockets: deque[int] = deque()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_writer.settimeout(0)
        self._wake_reader.settimeout(0)

    def run(self) -> None:
        """Until the control socket closes."""
        signal.set_wakeup_fd(self._wake_writer.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._wake_reader in ready:
                    with contextlib.suppress(BlockingIOError):
                        self._wake_reader.recv(4096)
                    self._reap()
                if self._control in ready and not self._listen():
                    break
        # The children die after the sockets are gone; their signals must not be written anywhere then.
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._kill_all()

    def _listen(self) -> bool:
        data, sockets, _, _ = socket.recv_fds(self._control, 65536, MAX_FDS)
        self._sockets.extend(sockets)
        if not data:
            return False
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            verb, _, rest = line.decode().partition(" ")
            if verb == "spawn":
                worker_id, _, folder = rest.partition(" ")
                self._spawn(worker_id, folder, self._sockets.popleft())
            elif rest in self._pids:
                _kill_group(self._pids[rest])
        return True

    def _spawn(self, worker_id: str, folder: str, descriptor: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_worker(folder, descriptor)
        os.close(descriptor)
        self._pids[worker_id] = pid

    def _become_worker(self, folder: str, descriptor: int) -> None:
        """In the child: drop everything of the server, then serve. Never returns, so that no exit handler of the server runs."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.close()
            self._wake_reader.close()
            self._wake_writer.close()
            for waiting in self._sockets:
                os.close(waiting)
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)  # parsers print pieces of documents
            os.close(nowhere)
            with socket.socket(fileno=descriptor) as sock:
                serve(sock, self._limits, folder)
            code = 0
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while (pid := _dead_child()) is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # grandchildren; before the wait, while nobody else can have this id
            _, status, usage = os.wait4(pid, 0)
            worker_id = next(each for each, known in self._pids.items() if known == pid)
            del self._pids[worker_id]
            line = f"exit {worker_id} {os.waitstatus_to_exitcode(status)} {usage.ru_maxrss * 1024}\n"
            with contextlib.suppress(OSError):
                self._control.sendall(line.encode())

    def _kill_all(self) -> None:
        for pid in self._pids.values():
            _kill_group(pid)


def _dead_child() -> int | None:
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if found is None else found.si_pid


def _kill_group(pid: int) -> None:
    """Kill the session of a worker; the process itself too, for the moment before it has its own session."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def main() -> None:
    """`python -P -m eunoe_safety.sandbox.forkserver CONTROL_FD LIMITS_JSON MODULE...`, started by the pool only."""
    control = socket.socket(fileno=int(sys.argv[1]))
    fcntl.fcntl(control, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    limits = Limits(**json.loads(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which drains and then closes the control socket
    for module in sys.argv[3:]:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # keeps the pages of the imports shared between the workers
    ForkServer(control, limits).run()


if __name__ == "__main__":
    main()
