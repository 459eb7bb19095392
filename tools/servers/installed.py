"""Where the servers' programs are kept between runs, and how they get there once."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from servers.failure import ServerFailure


def cache_folder() -> Path:
    """`EUNOE_SERVERS_CACHE`, else `eunoe-servers` in the user's cache."""
    chosen = os.environ.get("EUNOE_SERVERS_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "eunoe-servers"


def installed(name: str, version: str, install: Callable[[Path], None]) -> Path:
    """The folder `name-version` of the cache. When it is not there, `install` fills an empty one, which then appears whole.

    Two processes that want the same do not both install it.
    """
    folder = cache_folder() / f"{name}-{version}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            sys.stderr.write(f"installing {name} {version}, once ...\n")
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            install(partial)
            partial.rename(folder)
    return folder


def tool(name: str, package: str) -> str:
    """The path of a program, installed with apt where we are root. Raises `ServerFailure` that says what to install."""
    if (found := shutil.which(name)) is not None:
        return found
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise ServerFailure(f"`{name}` is missing, it is needed to run the test servers; on Debian: apt-get install {package}")
    sys.stderr.write(f"installing {package} with apt ...\n")
    quietly = {"DEBIAN_FRONTEND": "noninteractive"}
    run([apt, "update", "--quiet"], folder=Path("/"), environment=quietly)
    run([apt, "install", "--quiet", "--yes", "--no-install-recommends", package], folder=Path("/"), environment=quietly)
    if (found := shutil.which(name)) is None:
        raise ServerFailure(f"apt-get installed {package}, and `{name}` is missing all the same")
    return found


def run(command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run an installing command. Raises `ServerFailure` with the end of what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-20:])
        raise ServerFailure(f"{' '.join(command[:3])} ... ended with {done.returncode}:\n{tail}")
