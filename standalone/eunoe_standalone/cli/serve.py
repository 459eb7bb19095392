"""`eunoe serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eunoe_standalone.cli.output import Exit, fail, reported_errors
from eunoe_standalone.products import one_thread_for_products


def serve(
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Data directory; made when it is not there.")] = None,
    http: Annotated[str | None, typer.Option("--http", help="HOST:PORT of the HTTP door; port 0 picks a free one.")] = None,
    grpc: Annotated[str | None, typer.Option("--grpc", help="HOST:PORT of the gRPC door; port 0 picks a free one.")] = None,
) -> None:
    """Run the whole product in one process until it is told to stop (SIGINT or SIGTERM)."""
    import asyncio

    from eunoe_contracts.errors import ConfigurationError

    one_thread_for_products()
    with reported_errors():
        from eunoe_process.listening import Address

        from eunoe_standalone.server import run_server
        from eunoe_standalone.settings import ServerSettings
        from eunoe_standalone.settings_catalogue import load

        given = {name: value for name, value in (("data_dir", data_dir), ("http", http), ("grpc", grpc)) if value is not None}
        try:
            for name in ("http", "grpc"):
                if name in given:
                    Address.parse(str(given[name]), setting=f"--{name}")
        except ConfigurationError as error:
            fail(error.message, Exit.USAGE)
        asyncio.run(run_server(load(ServerSettings).model_copy(update=given)))
