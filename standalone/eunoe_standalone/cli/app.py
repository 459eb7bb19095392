"""The command `eunoe`. Commands that need the pipeline import it late, so that the others start fast."""

from __future__ import annotations

from typing import Annotated

import typer

from eunoe_standalone.cli import admin, bench, dead_letters, models, tokens
from eunoe_standalone.cli.config import config
from eunoe_standalone.cli.demo import demo
from eunoe_standalone.cli.doctor import doctor
from eunoe_standalone.cli.forget import forget
from eunoe_standalone.cli.ingest import ingest
from eunoe_standalone.cli.init import init
from eunoe_standalone.cli.moving import export_command, import_command
from eunoe_standalone.cli.search import search
from eunoe_standalone.cli.serve import serve
from eunoe_standalone.cli.status import containers, status
from eunoe_standalone.version import VERSION

app = typer.Typer(
    name="eunoe",
    help="Any document in, one cited answer out. `eunoe serve` runs everything in one process; the other commands find it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(init)
app.command()(serve)
app.command()(ingest)
app.command()(search)
app.command()(status)
app.command()(containers)
app.command()(forget)
app.command("export")(export_command)
app.command("import")(import_command)
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(bench.app, name="bench")
app.add_typer(models.app, name="models")
app.add_typer(tokens.app, name="tokens")
app.add_typer(admin.app, name="admin")
app.command()(doctor)
app.command()(config)
app.command()(demo)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"eunoe {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    *, version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end.")] = False
) -> None:
    """Any document in, one cited answer out."""


def main() -> None:
    """Entry point of the command."""
    app()
