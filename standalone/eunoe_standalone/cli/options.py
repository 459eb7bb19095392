"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from eunoe_contracts.errors import ConfigurationError

from eunoe_standalone.cli.output import Exit, fail
from eunoe_standalone.default_directory import configured_data_dir
from eunoe_standalone.remote_server import RemoteServer, remote_server

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Data directory (EUNOE_SERVER__DATA_DIR). The server running on it is found by itself.")
]
ServerAddress = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="HOST:PORT",
        help="gRPC door of a running server, for example a cluster's gateway (EUNOE_CLIENT__SERVER; its token is EUNOE_CLIENT__TOKEN); "
        "https://HOST:PORT for TLS.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
ContainerName = Annotated[str, typer.Option("--container", "-c", help="Container, a dot path such as team.project.")]


def resolved(data_dir: Path | None) -> Path:
    """The data directory to use: the option, else the setting."""
    return (data_dir or configured_data_dir()).expanduser().absolute()


def chosen(data_dir: Path | None, server: str) -> Path | RemoteServer:
    """The server of the options, else that of the settings; where none is named, the data directory."""
    if data_dir and server:
        fail("name a --data-dir or a --server, one of the two", Exit.USAGE)
    if data_dir:
        return resolved(data_dir)
    try:
        return remote_server(server) or resolved(None)
    except ConfigurationError as error:
        if server:
            fail(error.message, Exit.USAGE)
        raise
