"""`eunoe doctor`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from eunoe.v1 import admin_pb2
from eunoe_contracts.errors import EunoeError

from eunoe_standalone import rendezvous
from eunoe_standalone.cli.options import AsJson, DataDir, resolved
from eunoe_standalone.cli.output import Exit, fail, print_json, reported_errors, say, struct_values
from eunoe_standalone.client import CALL_TIMEOUT_S, connect

if TYPE_CHECKING:
    from eunoe_standalone.local_checks import Check


def doctor(
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what is safe: remove rows and files that belong to no document.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the vector index again from the catalogue (stop the server first).")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Check this machine, the server and the counts of every store; say what is wrong and what to do."""
    import asyncio

    from eunoe_standalone.local_checks import Check, local_checks

    with reported_errors():
        target = resolved(data_dir)
        checks = list(local_checks(target))
        running = rendezvous.find(target)
        if running is not None:
            if fix or rebuild:
                fail("stop the server of this data directory first", Exit.USAGE)
            checks += server_checks(target)
        elif (target / "eunoe.db").exists():
            from eunoe_standalone.repair import audit_offline

            try:
                checks += asyncio.run(audit_offline(target, fix=fix, rebuild=rebuild, tell=say))
            except EunoeError as error:  # what was found so far tells more than the failure alone
                checks.append(Check("audit", ok=False, reason=error.message))
    if as_json:
        print_json([asdict(each) for each in checks])
    else:
        for each in checks:
            typer.echo(f"{'ok  ' if each.ok else 'FAIL'} {each.name}: {each.reason}")
    if not all(each.ok for each in checks):
        raise typer.Exit(Exit.UNAVAILABLE)


def server_checks(data_dir: Path) -> list[Check]:
    """What the running server says of its parts."""
    from eunoe_standalone.local_checks import Check

    with connect(data_dir) as server:
        answer = server.admin.Readiness(admin_pb2.ReadinessRequest(), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    return [
        Check(f"server: {name}", bool(part["ok"]), str(part["reason"]) or "ok")
        for name, part in sorted(struct_values(answer.parts).items())
    ]
