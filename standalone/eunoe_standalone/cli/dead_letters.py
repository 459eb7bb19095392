"""`eunoe dead-letters list, show, replay`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from eunoe.v1 import admin_pb2

from eunoe_standalone.cli.options import AsJson, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import Exit, as_dict, fail, print_json, reported_errors
from eunoe_standalone.client import CALL_TIMEOUT_S, connect

app = typer.Typer(help="What could not be processed, why, and another try.", no_args_is_help=True)

FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]
Code = Annotated[str, typer.Option("--code", help="Only this error code.")]
DocumentId = Annotated[str, typer.Option("--document", help="Only this document.")]
Since = Annotated[datetime | None, typer.Option("--since", formats=FORMATS, help="Only what failed last at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option("--until", formats=FORMATS, help="Only what failed last before this time (UTC).")]
Tenant = Annotated[str, typer.Option("--tenant", help="Only this tenant; by default all.")]
AT_ONCE = 1000


def window(since: datetime | None, until: datetime | None) -> dict[str, Any]:
    """The fields of a time window; a time without a zone is UTC."""
    given = {"since": since, "until": until}
    return {name: time if time.tzinfo else time.replace(tzinfo=UTC) for name, time in given.items() if time is not None}


@app.command("list")
def list_letters(
    code: Code = "",
    document: DocumentId = "",
    tenant: Tenant = "",
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most rows.")] = 50,
    *,
    replayed: Annotated[bool, typer.Option("--replayed", help="Also those that were replayed.")] = False,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """List dead letters, newest first."""
    request = admin_pb2.DeadLettersRequest(
        code=code, document_id=document, tenant=tenant, limit=limit, include_replayed=replayed, **window(since, until)
    )
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.admin.DeadLetters(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    for each in answer.dead_letters:
        tries = f"{each.attempts} attempt{'' if each.attempts == 1 else 's'}"
        last = each.last_failed_at.ToDatetime(tzinfo=UTC).isoformat(timespec="seconds")
        typer.echo(f"{each.id}  {each.code}  {each.container}: {each.document_name or each.document_id}  ({each.stage}, {tries}, {last})")
        typer.echo(f"    {each.message}")
    typer.echo(f"{len(answer.dead_letters)} of {answer.total} dead letters")


@app.command()
def show(
    letter: Annotated[str, typer.Argument(help="Dead letter id.")],
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Everything known about one dead letter."""
    request = admin_pb2.DeadLettersRequest(id=letter, include_replayed=True, limit=1)
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.admin.DeadLetters(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if not answer.dead_letters:
        fail(f"there is no dead letter {letter}", Exit.USAGE)
    found = as_dict(answer.dead_letters[0])
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        typer.echo(f"{name:16} {value}")


@app.command()
def replay(
    letters: Annotated[list[str] | None, typer.Argument(help="Dead letter ids; without them, all that match.")] = None,
    code: Code = "",
    document: DocumentId = "",
    tenant: Tenant = "",
    since: Since = None,
    until: Until = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count only.")] = False,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Try dead letters again, newest first and at most 1,000 at once; doing it twice changes nothing."""
    request = admin_pb2.ReplayRequest(
        ids=letters or [], code=code, document_id=document, tenant=tenant, dry_run=dry_run, limit=AT_ONCE, **window(since, until)
    )
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.admin.Replay(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    typer.echo(f"{answer.matched} match" if dry_run else f"{answer.replayed} of {answer.matched} put back to work")
