"""`eunoe demo`: the shipped sample files, three questions, answers with their sources."""

from __future__ import annotations

import time
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from eunoe.v1 import search_pb2

from eunoe_standalone.cli.excerpt import excerpt
from eunoe_standalone.cli.options import resolved
from eunoe_standalone.cli.output import Exit, fail, reported_errors, say
from eunoe_standalone.cli.progress import progress_for
from eunoe_standalone.cli.search import citation
from eunoe_standalone.cli.sources import find_sources
from eunoe_standalone.cli.upload import follow, upload_all
from eunoe_standalone.client import CALL_TIMEOUT_S, connect

CONTAINER = "demo"
QUESTIONS = (
    "How often is the fog horn serviced, and by whom?",
    "Who may close the harbour when the master is away?",
    "What did Salla see on the night of the great storm?",
)


def demo(data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Data directory of the demo.")] = None) -> None:
    """Ingest the sample files that come with eunoe, ask three questions, print answers and sources."""
    started = time.monotonic()
    with resources.as_file(resources.files("eunoe_standalone.demo") / "samples") as folder, reported_errors():
        sources = list(find_sources([str(folder)]))
        with connect(resolved(data_dir)) as server:
            say(f"Ingesting {len(sources)} sample files ...")
            with progress_for(len(sources), quiet=False) as shown:
                items = follow(server, upload_all(server, sources, CONTAINER, [], shown.accepted), shown.ended)
            for item in items:
                typer.echo(f"  {item.status:10} {Path(item.path).name}" + (f"  {item.message}" if item.message else ""))
            for question in QUESTIONS:
                request = search_pb2.SearchRequest(query=question, containers=[CONTAINER], limit=1)
                answer = server.search.Search(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
                typer.echo(f"\n? {question}")
                for hit in answer.results:
                    typer.echo(f"  {excerpt(hit.content, question)}")
                    typer.echo(f"  -- {citation(hit)} (score {hit.score:.2f})")
                if not answer.results:
                    fail("no answer was found; run `eunoe doctor`", Exit.UNAVAILABLE)
    typer.echo(f"\n{time.monotonic() - started:.1f} s in all.")
    if any(item.failed for item in items):
        raise typer.Exit(Exit.SOME_FAILED)
