"""`eunoe demo`: the shipped sample files, three questions, answers with their sources."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer
from eunoe.v1 import search_pb2

from eunoe_standalone.cli.excerpt import excerpt
from eunoe_standalone.cli.options import AsJson, resolved
from eunoe_standalone.cli.output import Exit, as_dict, fail, print_json, reported_errors, say
from eunoe_standalone.cli.progress import progress_for
from eunoe_standalone.cli.search import citation
from eunoe_standalone.cli.sources import find_sources
from eunoe_standalone.cli.upload import Item, follow, upload_all
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection, connect

CONTAINER = "demo"
QUESTIONS = (
    "How often is the fog horn serviced, and by whom?",
    "Who may close the harbour when the master is away?",
    "What did Salla see on the night of the great storm?",
)


def demo(
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="Data directory of the demo.")] = None, *, as_json: AsJson = False
) -> None:
    """Ingest the sample files that come with eunoe, ask three questions, print answers and sources."""
    started = time.monotonic()
    with resources.as_file(resources.files("eunoe_standalone.demo") / "samples") as folder, reported_errors():
        sources = list(find_sources([str(folder)]))
        with connect(resolved(data_dir)) as server:
            say(f"Ingesting {len(sources)} sample files ...")
            with progress_for(len(sources), quiet=as_json) as shown:
                items = follow(server, upload_all(server, sources, CONTAINER, [], shown.accepted), shown.ended)
            answers = {question: ask(server, question) for question in QUESTIONS}
    seconds = time.monotonic() - started
    if as_json:
        found = {question: [as_dict(hit) for hit in answer.results] for question, answer in answers.items()}
        print_json({"items": [asdict(item) for item in items], "answers": found, "seconds": round(seconds, 1)})
    else:
        show(items, answers)
        typer.echo(f"\n{seconds:.1f} s in all.")
    if not all(answer.results for answer in answers.values()):
        fail("a question was not answered; run `eunoe doctor`", Exit.UNAVAILABLE)
    if any(item.failed for item in items):
        raise typer.Exit(Exit.SOME_FAILED)


def ask(server: Connection, question: str) -> search_pb2.SearchResponse:
    """The best hit for a question."""
    request = search_pb2.SearchRequest(query=question, containers=[CONTAINER], limit=1)
    answer: search_pb2.SearchResponse = server.search.Search(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    return answer


def show(items: Sequence[Item], answers: Mapping[str, search_pb2.SearchResponse]) -> None:
    """Items and answers for people."""
    for item in items:
        typer.echo(f"  {item.status:10} {Path(item.path).name}" + (f"  {item.message}" if item.message else ""))
    for question, answer in answers.items():
        typer.echo(f"\n? {question}")
        for hit in answer.results:
            typer.echo(f"  {excerpt(hit.content, question)}")
            typer.echo(f"  -- {citation(hit)} (score {hit.score:.2f})")
