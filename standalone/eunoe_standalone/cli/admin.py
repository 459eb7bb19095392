"""`eunoe admin provision`, `eunoe admin reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eunoe_standalone.cli.options import AsJson
from eunoe_standalone.cli.output import Exit, print_json, reported_errors, say

if TYPE_CHECKING:
    from eunoe_standalone.reindex import Outcome

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


@app.command()
def reindex(
    *,
    switch: Annotated[bool, typer.Option(help="Let the new index take the old one's place when it is filled.")] = True,
    drop: Annotated[
        bool,
        typer.Option("--drop", help="When every process runs with the new model: copy what is left over, remove the old index."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a new index on Weaviate for the configured model, while the old one is searched and written. May be run again at any time.

    The one-process server has `eunoe doctor --rebuild` for that.
    """
    import asyncio
    from dataclasses import asdict

    with reported_errors():
        outcome = asyncio.run(_reindexed(switch=switch, drop=drop))
    if as_json:
        print_json({**asdict(outcome), "is_switched": outcome.is_switched})
    else:
        say(_advice(outcome, drop=drop))
    if not outcome.is_settled:
        raise typer.Exit(Exit.SOME_FAILED)


async def _reindexed(*, switch: bool, drop: bool) -> Outcome:
    from eunoe_contracts.errors import ConfigurationError
    from eunoe_models.artifacts import require_embedder
    from eunoe_models.config import ModelSettings
    from eunoe_process.cluster import POSTGRES, open_catalogue
    from eunoe_process.sections import others
    from eunoe_process.settings_table import load, refuse_unknown, settings_of
    from eunoe_stores.vectors.weaviate import WeaviateSettings
    from eunoe_telemetry.clock import RandomIds, SystemClock

    from eunoe_standalone import reindex as work

    owners = (POSTGRES.settings, WeaviateSettings, ModelSettings)
    refuse_unknown(settings_of(owners), elsewhere=others(owners), advice="see docs/reference/settings.md")
    loaded = require_embedder(load(ModelSettings))
    try:
        if loaded.model is None:
            raise ConfigurationError("without a model there is nothing to do: set EUNOE_MODELS__PROFILE to the new one")
        async with open_catalogue(load(POSTGRES.settings), SystemClock(), RandomIds()) as catalogue:
            settings = load(WeaviateSettings)
            return await work.reindex(settings, catalogue=catalogue, model=loaded.model, switch=switch, drop=drop, tell=say)
    finally:
        await loaded.close()


def _advice(outcome: Outcome, *, drop: bool) -> str:
    of_model = f"generation {outcome.generation} of the index, for {outcome.model}"
    if not outcome.is_settled:
        return f"{of_model}: more is written than is copied. Stop the embedders, so that documents wait, and run it again."
    if not outcome.is_switched:
        return f"{of_model}, is filled and not in use. Stop the embedders, run it again without --no-switch, start all with this model."
    if outcome.others and drop:
        return f"{of_model}, is in use from now on. Nothing was removed yet: first start every process with this model."
    if outcome.others:
        return f"{of_model}, is in use by what starts from now on. Start every process with this model, then run it again with --drop."
    return f"{of_model}, is the only one."
