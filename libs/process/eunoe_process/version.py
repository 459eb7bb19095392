"""The version that runs, whether it came as packages of the workspace or inside the one wheel."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def running_version() -> str:
    """Of the installed distribution; `0` for a source tree that nobody installed."""
    for name in ("eunoe-process", "eunoe"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "0"
