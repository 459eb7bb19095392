"""`python -m servers up [NAME...] [--folder F]`, `down`: start the servers in the background, print where they are; stop them.
`install`: only put the programs into the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import psutil

from servers.all import SERVERS
from servers.failure import ServerFailure
from servers.server import Server

STATE = Path(".servers.json")
STOP_S = 30.0


def up(names: list[str], folder: Path | None) -> int:
    """Start those that do not run yet."""
    state = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {"folder": "", "servers": {}}
    root = Path(state["folder"] or folder or tempfile.mkdtemp(prefix="eunoe-servers-"))
    state["folder"] = str(root)
    for name in names or list(SERVERS):
        if name in state["servers"] and _process(state["servers"][name]):
            continue
        server: Server = SERVERS[name](root / name)
        began = time.monotonic()
        try:
            server.start()
        except ServerFailure as failure:
            sys.stderr.write(f"{failure}\nWhat runs already is stopped by `make servers-down`.\n")
            return 1
        pid = server.pid
        state["servers"][name] = {"pid": pid, "born": psutil.Process(pid).create_time(), "settings": dict(server.settings())}
        STATE.write_text(json.dumps(state, indent=1), encoding="utf-8")
        sys.stderr.write(f"{name} answers after {time.monotonic() - began:.1f} s (process {pid})\n")
    for each in state["servers"].values():
        for key, value in each["settings"].items():
            sys.stdout.write(f"export {key}={value}\n")
    return 0


def install(names: list[str]) -> int:
    """Build or fetch what is not in the cache yet; nothing is started."""
    with tempfile.TemporaryDirectory(prefix="eunoe-servers-") as folder:
        for name in names or list(SERVERS):
            server: Server = SERVERS[name](Path(folder) / name)
            server.folder.mkdir()
            began = time.monotonic()
            try:
                server.prepare()
                server.command()
            except ServerFailure as failure:
                sys.stderr.write(f"{failure}\n")
                return 1
            sys.stderr.write(f"{name} is installed after {time.monotonic() - began:.1f} s\n")
    return 0


def down() -> int:
    """Stop what `up` started, and remove the data."""
    if not STATE.exists():
        sys.stderr.write("no servers are running\n")
        return 0
    state = json.loads(STATE.read_text(encoding="utf-8"))
    processes = {name: found for name, each in state["servers"].items() if (found := _process(each))}
    for process in processes.values():
        os.killpg(process.pid, signal.SIGTERM)
    _, late = psutil.wait_procs(list(processes.values()), timeout=STOP_S)
    for process in late:
        os.killpg(process.pid, signal.SIGKILL)
    shutil.rmtree(state["folder"], ignore_errors=True)
    STATE.unlink()
    sys.stderr.write(f"stopped: {', '.join(processes) or 'nothing'}\n")
    return 0


def _process(known: dict[str, object]) -> psutil.Process | None:
    """The process of `up`, and not another one that has its number now."""
    try:
        process = psutil.Process(int(str(known["pid"])))
        return process if process.create_time() == known["born"] and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="servers", description=__doc__)
    parser.add_argument("action", choices=["up", "down", "install"])
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(SERVERS)}; default: all")
    parser.add_argument("--folder", type=Path, help="where data and logs go; default: a new temporary folder")
    asked = parser.parse_args()
    if unknown := [each for each in asked.names if each not in SERVERS]:
        parser.error(f"unknown server {unknown[0]}; there are {', '.join(SERVERS)}")
    if asked.action == "install":
        return install(asked.names)
    return up(asked.names, asked.folder) if asked.action == "up" else down()


if __name__ == "__main__":
    sys.exit(main())
