"""`eunoe admin provision`."""

from __future__ import annotations

import typer

from eunoe_standalone.cli.options import AsJson
from eunoe_standalone.cli.output import Exit, print_json, reported_errors, say

app = typer.Typer(help="For operators of the distributed mode.", no_args_is_help=True)


@app.callback()
def admin() -> None:
    """For operators of the distributed mode."""


@app.command()
def provision(*, as_json: AsJson = False) -> None:
    """Make what the six processes need and is missing: tables, bucket, collection, constraints, topics. May be run again."""
    import asyncio

    from eunoe_process.provisioning import Provided, cluster_owners, provide
    from eunoe_process.sections import others
    from eunoe_process.settings_table import refuse_unknown, settings_of
    from eunoe_telemetry.clock import RandomIds, SystemClock

    async def each_part() -> list[Provided]:
        parts = []
        async for part in provide(SystemClock(), RandomIds()):
            parts.append(part)
            if not as_json:
                say(f"{part.part}: {part.done}")
                for line in (*part.notes, *part.failures):
                    say(f"  {line}")
        return parts

    with reported_errors():
        owners = cluster_owners()
        refuse_unknown(settings_of(owners), elsewhere=others(owners), advice="see docs/reference/settings.md")
        parts = asyncio.run(each_part())
    if as_json:
        print_json(
            [{"part": str(each.part), "done": each.done, "notes": list(each.notes), "failures": list(each.failures)} for each in parts]
        )
    if any(each.failures for each in parts):
        raise typer.Exit(Exit.SOME_FAILED)
