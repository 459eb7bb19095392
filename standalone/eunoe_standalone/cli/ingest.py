"""`eunoe ingest`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from eunoe.v1 import ingest_pb2

from eunoe_standalone.cli.options import AsJson, ContainerName, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import Exit, fail, print_json, reported_errors, say
from eunoe_standalone.cli.progress import progress_for
from eunoe_standalone.cli.prune import prune_vanished
from eunoe_standalone.cli.sources import STDIN, SourceFile, find_sources, is_url
from eunoe_standalone.cli.upload import Item, follow, upload_all
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection, connect

SETTLED = frozenset({"done", "unchanged"})


def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, globs, or - for standard input.")],
    container: ContainerName = "default",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Tag every document; may be repeated.")] = None,
    name: Annotated[str, typer.Option("--name", help="Name of what comes from standard input.")] = "stdin.txt",
    *,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until each document has ended.")] = True,
    prune: Annotated[bool, typer.Option("--prune", help="Erase documents of the container whose file is gone (asks first).")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Ingest files: unchanged ones are skipped, changed ones replace their older version."""
    with reported_errors(), connect(chosen(data_dir, address)) as server, tempfile.TemporaryDirectory() as scratch:
        wait = wait or server.is_embedded  # without a server nobody would finish the work
        urls = [path for path in paths if is_url(path)]
        files = [path for path in paths if not is_url(path) and path != STDIN]
        sources = list(find_sources(files))
        if STDIN in paths:
            sources.append(from_stdin(Path(scratch), name))
        if not sources and not urls:
            fail("nothing to ingest: the folders hold no files", Exit.USAGE)
        try:
            with progress_for(len(sources), quiet=as_json) as shown:
                items = upload_all(server, sources, container, tag or [], shown.accepted)
                items += [request_url(server, url, container, tag or []) for url in urls]
                if wait:
                    items = follow(server, items, shown.ended)
        except KeyboardInterrupt:
            fail("stopped; what was accepted is not lost. Run the same command again to send the rest", Exit.STOPPED)
        removed = prune_vanished(server, container, sources, yes=yes, as_json=as_json) if prune else []
    report(items, removed, as_json=as_json)
    if any(item.failed for item in items):
        raise typer.Exit(Exit.SOME_FAILED)


def from_stdin(scratch: Path, name: str) -> SourceFile:
    """Standard input as a file."""
    path = scratch / "stdin"
    with path.open("wb") as file:
        while chunk := sys.stdin.buffer.read(1 << 16):
            file.write(chunk)
    return SourceFile(path, "", name, name)


def request_url(server: Connection, url: str, container: str, tags: Sequence[str]) -> Item:
    """Ask the server to fetch a URL."""
    info = ingest_pb2.ContentInfo(container=container, tags=tags)
    answer = server.ingest.IngestUrl(ingest_pb2.IngestUrlRequest(info=info, url=url), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    return Item(url, answer.acceptance.id, answer.acceptance.status, warnings=tuple(answer.acceptance.warnings))


def report(items: Sequence[Item], removed: Sequence[str], *, as_json: bool) -> None:
    """Counts for people, each failure named; everything for scripts."""
    if as_json:
        print_json({"items": [asdict(item) for item in items], "pruned": list(removed)})
        return
    for item in items:
        if item.failed:
            say(f"{item.status}: {item.path}: {item.message} [{item.code}]")
        for warning in item.warnings:
            say(f"warning: {item.path}: {warning}")
        if item.id and not item.failed and item.status not in SETTLED:
            say(f"{item.status}: {item.path}: follow it with `eunoe status {item.id}`")
        if item.degraded:
            say(f"partly: {item.path}: without {', '.join(item.degraded)}")
    counts: dict[str, int] = {}
    for item in items:
        counts[item.status] = counts.get(item.status, 0) + 1
    typer.echo(", ".join(f"{count} {status}" for status, count in sorted(counts.items())) + (f", {len(removed)} pruned" if removed else ""))
