"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eunoe_standalone.default_directory import configured_data_dir

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Data directory (EUNOE_SERVER__DATA_DIR). The server running on it is found by itself.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
ContainerName = Annotated[str, typer.Option("--container", "-c", help="Container, a dot path such as team.project.")]


def resolved(data_dir: Path | None) -> Path:
    """The data directory to use: the option, else the setting."""
    return (data_dir or configured_data_dir()).expanduser().absolute()
