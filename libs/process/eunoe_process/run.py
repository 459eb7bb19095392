"""`run_process`: what every service's `main` calls."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import structlog
from eunoe_contracts.errors import ConfigurationError, EunoeError
from eunoe_telemetry.clock import RandomIds, SystemClock
from eunoe_telemetry.logging import configure_logging

from eunoe_process.cluster import cluster_kinds
from eunoe_process.command_line import print_settings, read
from eunoe_process.config import ProcessSettings
from eunoe_process.exit_codes import ExitCode
from eunoe_process.program import Program
from eunoe_process.running import admin_address, run, secret_of
from eunoe_process.sections import others
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
    refuse_unknown(known, elsewhere=others(owners), advice=f"`{program.name} --print-config` lists the known ones")
    return {owner: load(owner) for owner in owners}


async def _main(program: Program, settings: Mapping[Owner, Any], kinds: Kinds) -> int:
    stop = Stop()
    stop_on_signals(stop)
    process: ProcessSettings = settings[ProcessSettings]
    forcing = asyncio.create_task(_forced(stop, process.drain_s + FORCE_S), name="end by force")
    try:
        await run(program, settings, kinds, stop=stop, clock=SystemClock(), ids=RandomIds())
    except Unreachable as error:
        log.error("unreachable", process=program.name, reason=str(error), advice="start the store, then this process again")  # noqa: TRY400 - no defect
        return ExitCode.UNREACHABLE
    except EunoeError as error:
        if error.retryable:  # a store went away between its opening and the start of the work
            log.error("unreachable", process=program.name, code=error.code, reason=error.message)  # noqa: TRY400 - no defect
            return ExitCode.UNREACHABLE
        return _refused(program, error)
    finally:
        forcing.cancel()
    return stop.code


async def _forced(stop: Stop, after_s: float) -> None:
    await stop.wait()
    end_by_force(after_s, stop.code)


def _refused(program: Program, error: EunoeError) -> int:
    sys.stderr.write(f"{program.name}: {error.message}\n")
    return ExitCode.CONFIGURATION
