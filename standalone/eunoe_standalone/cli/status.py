"""`eunoe status` and `eunoe containers`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from eunoe.v1 import admin_pb2, container_pb2, ingest_pb2

from eunoe_standalone.cli.options import AsJson, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import Exit, as_dict, fail, print_json, reported_errors, struct_values, table
from eunoe_standalone.client import CALL_TIMEOUT_S, connect


def status(
    document: Annotated[str, typer.Argument(help="Document id; without it, counts of everything.")] = "",
    container: Annotated[str, typer.Option("--container", "-c", help="List the documents of this container with their ids.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most rows of the list.")] = 100,
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Where a document stands, the documents of a container, or the counts of the whole store."""
    if document and container:
        fail("name a document id or a --container, one of the two", Exit.USAGE)
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        if container:
            listing = ingest_pb2.ListDocumentsRequest(container=container, limit=limit)
            print_documents(server.ingest.ListDocuments(listing, timeout=CALL_TIMEOUT_S, metadata=server.metadata), as_json=as_json)
            return
        if not document:
            answer = server.admin.Stats(admin_pb2.StatsRequest(), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
            stats = struct_values(answer.stats)
            if as_json:
                print_json(stats)
                return
            for part, counts in sorted(stats.items()):
                typer.echo(f"{part:14} {counted(counts)}")
            return
        request = ingest_pb2.GetDocumentRequest(id=document)
        found = server.ingest.GetDocument(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata).document
    if as_json:
        print_json(as_dict(found))
        return
    typer.echo(f"{found.name or found.id}: {found.status}" + (f" ({found.error_code}: {found.error_message})" if found.error_code else ""))
    for stage in found.stages:
        note = f"  {stage.code}: {stage.message}" if stage.code else ""
        typer.echo(f"  {stage.stage:16} {stage.state:10} attempts {stage.attempts}{note}")
    if found.counts:
        typer.echo("  " + ", ".join(f"{name} {count}" for name, count in sorted(found.counts.items())))


def print_documents(answer: ingest_pb2.ListDocumentsResponse, *, as_json: bool) -> None:
    """One line each: id, status, name, and why where it failed."""
    if as_json:
        print_json(as_dict(answer))
        return
    for each in answer.documents:
        reason = f"  {each.error_code}" if each.error_code else ""
        typer.echo(f"{each.id}  {each.status:10} {each.custom_id or each.name}{reason}")
    typer.echo(f"{len(answer.documents)} of {answer.total} documents")


def containers(
    prefix: Annotated[str, typer.Option("--prefix", help="Only names that start with this.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most rows.")] = 100,
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """List the containers with what is in them."""
    request = container_pb2.ContainerServiceListRequest(prefix=prefix, limit=limit)
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.containers.List(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    rows = [[each.name, str(each.document_count), str(each.memory_count)] for each in answer.containers]
    table(["container", "documents", "memories"], rows)


def counted(counts: dict[str, Any]) -> str:
    """`total 3 (done 2, failed 1)`."""
    words = []
    for name, value in sorted(counts.items(), key=lambda each: (isinstance(each[1], dict), each[0])):
        if isinstance(value, dict):
            words += [f"{part} {count}" for part, count in sorted(value.items())]
        else:
            words.append(f"{name} {value}")
    return ", ".join(words)
