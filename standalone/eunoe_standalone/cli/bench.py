"""`eunoe bench`: measure the product on your own questions."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import grpc
import typer
from eunoe_contracts.errors import CapabilityUnavailable

from eunoe_standalone.cli.options import AsJson, chosen
from eunoe_standalone.cli.output import Exit, print_json, reported_errors, say, stable_code, table
from eunoe_standalone.client import connect
from eunoe_standalone.remote_server import RemoteServer

if TYPE_CHECKING:
    from eunoe_standalone.retrieval_bench.dataset import Dataset
    from eunoe_standalone.retrieval_bench.report import Measured

app = typer.Typer(help="Measure on your own data.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure on your own data."""


@app.command()
def retrieval(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="BEIR folders: corpus.jsonl, queries.jsonl, qrels.tsv.")],
    *,
    ablate: Annotated[bool, typer.Option("--ablate", help="Also measure each arm alone, and the recipe step by step.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Ingest here, or into its server; by default a temporary directory per folder.")
    ] = None,
    address: Annotated[
        str,
        typer.Option("--server", metavar="HOST:PORT", help="Ingest into this server, for example a cluster's gateway."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Ingest BEIR folders through the API, ask their questions, print nDCG, recall, search time and documents per second."""
    from eunoe_standalone.retrieval_bench.dataset import read_dataset
    from eunoe_standalone.retrieval_bench.report import COLUMNS, as_dict, rows, together

    with reported_errors():
        # Not where the settings say: what is measured here has no place among anybody's documents.
        where = chosen(data_dir, address) if data_dir or address else None
        sets = [measure(read_dataset(folder), ablate=ablate, where=where, quiet=as_json) for folder in folders]
    everything = [*sets, together(sets)] if len(sets) > 1 else sets
    if as_json:
        print_json({"sets": [as_dict(each) for each in everything]})
    else:
        table(list(COLUMNS), [row for each in everything for row in rows(each)])
        for each in everything:
            typer.echo(f"{each.name}: {each.documents} documents, {each.documents_per_s:.1f} documents/s, {each.failed} failed")
    if any(each.failed for each in sets):
        raise typer.Exit(Exit.SOME_FAILED)


def measure(dataset: Dataset, *, ablate: bool, where: Path | RemoteServer | None, quiet: bool) -> Measured:
    """Ingest and ask one set, in a temporary directory unless told where."""
    from eunoe_standalone.cli.progress import progress_for
    from eunoe_standalone.retrieval_bench.arms import arms
    from eunoe_standalone.retrieval_bench.ask import ask
    from eunoe_standalone.retrieval_bench.ingest import ingest_texts
    from eunoe_standalone.retrieval_bench.report import Measured

    with ExitStack() as stack:
        server = stack.enter_context(connect(where or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="eunoe-bench-")))))
        say(f"{dataset.name}: {len(dataset.texts)} documents, {len(dataset.questions)} questions")
        with progress_for(len(dataset.texts), quiet=quiet) as shown:
            done = ingest_texts(server, dataset.texts, accepted=shown.accepted, ended=shown.ended)
        for item in done.failed:
            say(f"{item.status}: {item.path}: {item.message} [{item.code}]")
        answers = {}
        for arm in arms(ablate=ablate):
            say(f"{dataset.name}: asking, {arm.name}")
            try:
                answers[arm.name] = ask(server, dataset.questions, done.names, arm)
            except grpc.RpcError as error:
                if stable_code(error) != CapabilityUnavailable.code:
                    raise
                say(f"{dataset.name}: {arm.name} needs an embedding model")
    return Measured(dataset.name, answers, len(dataset.texts), len(done.failed), done.new, done.seconds)
