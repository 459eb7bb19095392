"""`eunoe tokens create, list, revoke`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from eunoe.v1 import admin_pb2

from eunoe_standalone.cli.options import AsJson, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import as_dict, print_json, reported_errors, say, table
from eunoe_standalone.client import CALL_TIMEOUT_S, connect

app = typer.Typer(help="API tokens: hashed, scoped, expiring, revocable.", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    scope: Annotated[list[str] | None, typer.Option("--scope", help="ingest, search or admin; may be repeated.")] = None,
    days: Annotated[int, typer.Option("--days", min=0, help="Days until it expires; 0 for never.")] = 90,
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant it belongs to; by default the default one.")] = "",
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Create a token; its secret is printed once and stored nowhere."""
    request = admin_pb2.CreateTokenRequest(name=name, scopes=scope or ["ingest", "search"], tenant=tenant)
    if days:
        request.expires_at.FromDatetime(datetime.now(UTC) + timedelta(days=days))
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.admin.CreateToken(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    say(f"Token {answer.token.id} for tenant '{answer.token.tenant}', scopes {', '.join(answer.token.scopes)}. Keep the secret:")
    typer.echo(answer.secret)


@app.command("list")
def list_tokens(*, data_dir: DataDir = None, address: ServerAddress = "", as_json: AsJson = False) -> None:
    """List the tokens, never their secrets."""
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.admin.Tokens(admin_pb2.TokensRequest(), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    rows = []
    for each in answer.tokens:
        state = "revoked" if each.HasField("revoked_at") else "active"
        expires = each.expires_at.ToDatetime().isoformat(timespec="minutes") if each.HasField("expires_at") else "never"
        rows.append([each.id, each.name, each.tenant, ", ".join(each.scopes), expires, state])
    table(["id", "name", "tenant", "scopes", "expires", "state"], rows)


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(help="Token id.")],
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Revoke a token at once."""
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        answer = server.admin.RevokeToken(admin_pb2.RevokeTokenRequest(id=token), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    if as_json:
        print_json(as_dict(answer))
        return
    typer.echo(f"revoked {answer.token.id}")
