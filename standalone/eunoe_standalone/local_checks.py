"""What can be checked on this machine without a server: SQLite, disk, model, sandbox, settings."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eunoe_contracts.errors import EunoeError
from eunoe_models.artifacts import missing_model
from eunoe_models.config import ModelSettings
from eunoe_safety.sandbox.isolation import sandbox_report

from eunoe_standalone.settings import ServerSettings
from eunoe_standalone.settings_catalogue import effective, load, refuse_unknown

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One finding, with what to do when it is not ok."""

    name: str
    ok: bool
    reason: str


def local_checks(data_dir: Path) -> Iterator[Check]:
    """Run all of them; takes about half a second. `data_dir` need not exist yet."""
    yield _settings()
    yield _full_text_search()
    yield _disk(data_dir)
    yield _model()
    yield _sandbox()


def _settings() -> Check:
    try:
        refuse_unknown()
        effective()
    except EunoeError as error:
        return Check("settings", ok=False, reason=error.message)
    return Check("settings", ok=True, reason="valid")


def _full_text_search() -> Check:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(body)")
    except sqlite3.OperationalError:
        return Check("sqlite", ok=False, reason=f"SQLite {sqlite3.sqlite_version} of this Python has no FTS5; use another Python build")
    finally:
        connection.close()
    return Check("sqlite", ok=True, reason=f"SQLite {sqlite3.sqlite_version} with FTS5")


def _disk(data_dir: Path) -> Check:
    place = next(each for each in (data_dir, *data_dir.parents) if each.exists())
    free = shutil.disk_usage(place).free
    try:
        limit = load(ServerSettings).queue_low_disk_bytes
    except EunoeError as error:
        return Check("disk", ok=False, reason=error.message)
    reason = f"{free // MIB} MiB free; new work is refused below {limit // MIB} MiB"
    return Check("disk", ok=free >= limit, reason=reason)


def _model() -> Check:
    try:
        settings = ModelSettings()
        if settings.profile == "none":
            return Check("embedding model", ok=True, reason="none configured: search goes by words only")
        if missing := missing_model(settings):
            return Check("embedding model", ok=False, reason=missing)
    except (EunoeError, ValueError) as error:
        return Check("embedding model", ok=False, reason=str(error))
    found = f"{settings.folder}" if settings.takes_folder else f"{settings.profile} in {settings.dir}"
    return Check("embedding model", ok=True, reason=found)


def _sandbox() -> Check:
    report = sandbox_report()
    walls = ", ".join(
        f"{name} {value}" for name, value in (("network", report.network), ("seccomp", report.seccomp), ("read-only", report.read_only))
    )
    return Check("parser sandbox", ok=report.network != "none", reason=walls)
