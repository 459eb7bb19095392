"""`run_process`: what every service's `main` calls."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import structlog
from eunoe_contracts.errors import ConfigurationError, EunoeError, RequestError, SetupError, TransientError
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.logging import configure_logging

from eunoe_process.cluster import cluster_kinds
from eunoe_process.command_line import print_settings, read
from eunoe_process.config import ProcessSettings
from eunoe_process.exit_codes import ExitCode
from eunoe_process.program import Program
from eunoe_process.running import admin_address, run, secret_of
from eunoe_process.sections import DOORS, others
from eunoe_process.settings_table import Owner, effective_of, load, refuse_unknown, settings_of
from eunoe_process.stopping import Stop, end_by_force, stop_on_signals
from eunoe_process.stores import Kinds, StoreName, Unreachable

FORCE_S = 15.0
"""Beside the drain: doors that close, commits, connections."""
log = structlog.get_logger("eunoe")


def run_process(
    programs: Program | Mapping[str, Program],
    arguments: Sequence[str] | None = None,
    *,
    kinds: Callable[[Collection[StoreName]], Kinds] = cluster_kinds,
) -> int:
    """Run a program as this process, until it is told to stop (SIGINT or SIGTERM); returns the exit code.

    Of several programs by role, `--role` chooses. `arguments` are those of the command line; `kinds` says how stores are opened.
    """
    by_role = programs if isinstance(programs, Mapping) else {"": programs}
    first = next(iter(by_role.values()))
    asked = read(first.name, first.about, arguments, roles={role: each.about for role, each in by_role.items()})
    program = by_role[asked.role]
    try:
        if program.refusal:
            raise ConfigurationError(program.refusal)
        stores = kinds(program.stores)
        owners = owners_of(program, stores)
        settings = loaded(program, owners)
        if asked.print_config:
            print_settings(effective_of(owners), as_json=asked.as_json)
            return ExitCode.OK
        admin_address(program, settings[ProcessSettings])
        secret_of(program, settings)
    except EunoeError as error:
        return _refused(program, error)
    if asked.check:
        sys.stderr.write(f"{program.name}: the settings are valid\n")
        return ExitCode.OK
    process: ProcessSettings = settings[ProcessSettings]
    configure_logging(process.log_level, process.log_format)
    return asyncio.run(_main(program, settings, stores))


def owners_of(program: Program, kinds: Kinds) -> tuple[Owner, ...]:
    """The settings classes of a program and of its stores."""
    of_stores = (kinds[name].settings for name in StoreName if name in program.stores)
    return (*program.owners, *(each for each in of_stores if each is not None))


def loaded(program: Program, owners: Sequence[Owner]) -> Mapping[Owner, Any]:
    """All settings of a process. Raises `ConfigurationError` naming what is wrong, missing or unknown."""
    known = list(settings_of(owners))
    # The one process has more settings in the section of the doors than the gateway reads, and both may share a `.env`.
    refuse_unknown(known, elsewhere=(*others(owners), DOORS), advice=f"`{program.name} --print-config` lists the known ones")
    return {owner: load(owner) for owner in owners}


async def _main(program: Program, settings: Mapping[Owner, Any], kinds: Kinds) -> int:
    stop = Stop()
    stop_on_signals(stop)
    process: ProcessSettings = settings[ProcessSettings]
    forcing = asyncio.create_task(_forced(stop, process.drain_s + FORCE_S), name="end by force")
    try:
        await _run_or_stop(program, settings, kinds, stop)
    except Unreachable as error:
        log.error("unreachable", process=program.name, reason=str(error), advice="start the store, then this process again")  # noqa: TRY400 - no defect
        return ExitCode.UNREACHABLE
    except TransientError as error:  # a store went away between its opening and the start of the work
        log.error("unreachable", process=program.name, code=error.code, reason=error.message)  # noqa: TRY400 - no defect
        return ExitCode.UNREACHABLE
    except (SetupError, RequestError) as error:
        return _refused(program, error)
    finally:
        forcing.cancel()
    return stop.code


async def _run_or_stop(program: Program, settings: Mapping[Owner, Any], kinds: Kinds, stop: Stop) -> None:
    """A stop that comes before the process serves does not wait for the start to succeed."""
    up = asyncio.Event()
    clock, ids = SystemClock(), RandomIds()
    running = asyncio.create_task(run(program, settings, kinds, stop=stop, clock=clock, ids=ids, on_up=lambda _: up.set()))
    asked = asyncio.create_task(stop.wait())
    await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if not up.is_set() and not running.done():
        running.cancel()
        await asyncio.wait({running})
        if running.cancelled():
            return
    await running


async def _forced(stop: Stop, after_s: float) -> None:
    await stop.wait()
    end_by_force(after_s, stop.code)


def _refused(program: Program, error: EunoeError) -> int:
    sys.stderr.write(f"{program.name}: {error.message}\n")
    return ExitCode.CONFIGURATION
