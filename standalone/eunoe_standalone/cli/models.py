"""`eunoe models list, pull, build`."""

from __future__ import annotations

import typer

from eunoe_standalone.cli.output import reported_errors, say, table
from eunoe_standalone.cli.options import AsJson

app = typer.Typer(help="Pinned model artifacts and their cache.", no_args_is_help=True)
