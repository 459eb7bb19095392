"""`eunoe search`."""

from __future__ import annotations

from typing import Annotated

import typer
from eunoe.v1 import search_pb2

from eunoe_standalone.cli.excerpt import excerpt
from eunoe_standalone.cli.options import AsJson, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import as_dict, print_json, reported_errors, say
from eunoe_standalone.client import CALL_TIMEOUT_S, connect


def search(
    query: Annotated[str, typer.Argument(help="What you want to know.")],
    container: Annotated[list[str] | None, typer.Option("--container", "-c", help="Only this container; may be repeated.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="Number of hits.")] = 5,
    mode: Annotated[str, typer.Option("--mode", help="hybrid, keyword or vector.")] = "hybrid",
    *,
    inherit: Annotated[bool, typer.Option("--inherit", help="Also search the containers above.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each arm contributed.")] = False,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Find passages and memories, best first, with their source."""
    request = search_pb2.SearchRequest(query=query, containers=container or [], inherit=inherit, limit=limit, mode=mode, explain=explain)
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer: search_pb2.SearchResponse = server.search.Search(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    print_hits(answer, explain=explain)


def citation(hit: search_pb2.SearchHit) -> str:
    """`name, page 3, Heading > Subheading`."""
    source = hit.source
    # A folder has many files of one name, so the path below it tells more.
    is_path = source.custom_id.endswith(f"/{source.name}")
    parts = [(source.custom_id if is_path else source.name) or source.custom_id or hit.document_id]
    if source.HasField("page"):
        parts.append(f"page {source.page}")
    if source.heading_path:
        parts.append(" > ".join(source.heading_path))
    if source.speaker:
        parts.append(source.speaker)
    return ", ".join(parts)


def print_hits(answer: search_pb2.SearchResponse, *, explain: bool = False) -> None:
    """Hits for people."""
    for rank, hit in enumerate(answer.results, 1):
        typer.echo(f"{rank}. {hit.score:.2f}  [{citation(hit)}]")
        typer.echo("   " + excerpt(hit.content, answer.query))
        if explain:
            typer.echo(f"     document {hit.document_id}, container {hit.container}")
            for arm, scored in sorted(hit.arms.items()):
                typer.echo(f"     {arm:14} rank {scored.rank or '-':>4}  score {scored.score:8.3f}  adds {scored.contribution:6.3f}")
    if not answer.results:
        say("Nothing found.")
    if answer.degraded:
        say(f"Partial answer: {', '.join(answer.degraded)} did not answer.")
