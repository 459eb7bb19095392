"""`eunoe config`."""

from __future__ import annotations

from typing import Annotated

import typer

from eunoe_standalone.cli.options import AsJson
from eunoe_standalone.cli.output import print_json, reported_errors


def config(
    *,
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that differ from their default.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the settings in force and where each came from; secrets are hidden."""
    from eunoe_standalone.settings_catalogue import effective, refuse_unknown

    with reported_errors():
        found = [each for each in effective() if not changed or each.origin != "default"]
        if as_json:
            print_json([{"variable": each.variable, "value": each.value, "origin": each.origin} for each in found])
        else:
            for each in found:
                typer.echo(f"{each.variable}={each.value}  # {each.origin}")
        refuse_unknown()
