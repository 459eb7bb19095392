"""The command line of a service process: run, check the settings, or print them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eunoe_process.exit_codes import ExitCode
from eunoe_process.settings_table import Effective
from eunoe_process.version import running_version

CODES = "exit codes: " + ", ".join(f"{code.value} {code.name.lower()}" for code in ExitCode)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    role: str
    print_config: bool
    check: bool
    as_json: bool


def read(name: str, about: str, arguments: Sequence[str] | None, *, roles: Mapping[str, str]) -> Asked:
    """Parse; `--help`, `--version` and mistakes end the process, as with every command. `roles` are names with their meaning, the first
    by default; of one role only, nothing is asked.
    """
    first = next(iter(roles))
    parser = argparse.ArgumentParser(prog=name, description=about, epilog=f"Settings come from the environment and `.env`. {CODES}")
    parser.add_argument(
        "--print-config", action="store_true", help="print every setting of this process with its value and origin, and end"
    )
    parser.add_argument("--check", action="store_true", help="check the settings and end; connects to nothing")
    parser.add_argument("--json", action="store_true", help="with --print-config: as JSON")
    parser.add_argument("--version", action="version", version=f"{name} {running_version()}")
    if len(roles) > 1:
        told = "; ".join(f"{role}: {meaning}" for role, meaning in roles.items())
        parser.add_argument("--role", choices=list(roles), default=first, help=f"{told} (default: {first})")
    asked = parser.parse_args(arguments)
    return Asked(getattr(asked, "role", first), asked.print_config, asked.check, asked.json)


def print_settings(settings: Sequence[Effective], *, as_json: bool) -> None:
    """On stdout, as lines for `.env` or as JSON. Secrets are hidden."""
    if as_json:
        rows = [{"variable": each.variable, "value": each.value, "origin": each.origin} for each in settings]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{each.variable}={each.value}  # {each.origin}\n" for each in settings)
