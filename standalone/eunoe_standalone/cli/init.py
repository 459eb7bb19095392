"""`eunoe init`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from eunoe_standalone.cli.options import AsJson, DataDir, resolved
from eunoe_standalone.cli.output import print_json, reported_errors, say


def init(
    data_dir: DataDir = None,
    *,
    pull: Annotated[bool, typer.Option("--pull/--no-pull", help="Fetch the default embedding model when it is missing.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing .env.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write .env and the data directory, fetch the default model, say what is available and what is not."""
    from eunoe_standalone.cli.models import pull_default
    from eunoe_standalone.local_checks import local_checks

    with reported_errors():
        target = resolved(data_dir)
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        dotenv = Path(".env")
        keeps = dotenv.exists() and not force
        if keeps:
            say(".env exists and stays as it is (--force replaces it)")
        else:
            dotenv.write_text(f"# Settings of eunoe; `eunoe config` lists them all.\nEUNOE_SERVER__DATA_DIR={target}\n", encoding="utf-8")
            say("wrote .env")
        say(f"data directory {target}")
        if pull:
            pull_default()
    checks = list(local_checks(target))
    if as_json:
        print_json({"data_dir": str(target), "wrote_env": not keeps, "checks": [asdict(each) for each in checks]})
        return
    for check in checks:
        typer.echo(f"{'ok     ' if check.ok else 'missing'} {check.name}: {check.reason}")
    typer.echo("Start with: eunoe serve" + (f" --data-dir {shlex.quote(str(target))}" if keeps and data_dir is not None else ""))
