"""`eunoe export` and `eunoe import`."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import Annotated, Any

import typer
from eunoe_contracts.errors import InvalidRequest

from eunoe_standalone.cli.options import AsJson, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import Exit, fail, print_json, reported_errors, say
from eunoe_standalone.cli.progress import LINE_EVERY_S, progress_for
from eunoe_standalone.client import connect
from eunoe_standalone.moving.exporting import Exported, export
from eunoe_standalone.moving.importing import REFUSED, Imported, import_
from eunoe_standalone.moving.reader import STDIN, check, reading
from eunoe_standalone.moving.writer import STDOUT, writing

FAILED = frozenset({REFUSED, "failed"})


def export_command(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="File to write (.gz compresses), or - for standard output.")],
    container: Annotated[str, typer.Option("--container", "-c", help="Only what is exactly in this container.")] = "",
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Write all documents of a server, with what was changed of their memories, into one file for `eunoe import`."""
    if file == STDOUT and (as_json or sys.stdout.isatty()):
        fail("the export itself goes to standard output; send it to a program or file, without --json", Exit.USAGE)
    lines = _Lines(quiet=as_json)
    with reported_errors(), connect(chosen(data_dir, address)) as server, writing(file) as writer:
        done = export(server, writer, lines.tell, container=container)
    _report_export(done, as_json=as_json)
    if done.unreadable:
        raise typer.Exit(Exit.SOME_FAILED)


class _Lines:
    """A line every two seconds, since a bar would need a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet, self._shown = quiet, time.monotonic()

    def tell(self, count: int, total: int) -> None:
        """So many of so many."""
        if not self._quiet and time.monotonic() - self._shown >= LINE_EVERY_S:
            self._shown = time.monotonic()
            say(f"{count} of {max(count, total)} documents")


def _report_export(done: Exported, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(done))
        return
    for each in done.unreadable:
        say(f"not exported: {each}: its stored bytes are missing or not those that were accepted")
    if done.cancelled:
        say(f"left out: {done.cancelled} cancelled documents")
    changes = f"{done.edited} changed and {done.removed} removed memories"
    say(f"exported {done.documents} documents ({done.bytes:,} bytes), {changes}")


def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="File that `eunoe export` wrote, or - for standard input.")],
    *,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Take in what `eunoe export` wrote. Needs the admin scope. May be repeated: what is there is left alone."""
    with reported_errors():
        # A file is read to its end first: of a broken one nothing is taken in. Standard input can be read only once.
        total = 0 if file == STDIN else check(file)
    done, broken = Imported(), ""
    with reported_errors(), connect(chosen(data_dir, address)) as server, reading(file, with_content=True) as reader:
        try:
            with progress_for(total, quiet=as_json) as shown:
                import_(server, reader, done, accepted=shown.accepted, ended=shown.ended)
        except InvalidRequest as error:
            broken = error.message
        except KeyboardInterrupt:
            fail("stopped; run the same command again to go on", Exit.STOPPED)
    _report_import(done, broken, as_json=as_json)
    if broken or any(each.status in FAILED for each in done.items):
        raise typer.Exit(Exit.SOME_FAILED)


def _report_import(done: Imported, broken: str, *, as_json: bool) -> None:
    counts: dict[str, int] = {}
    for each in done.items:
        counts[each.status] = counts.get(each.status, 0) + 1
    report: dict[str, Any] = {"documents": counts, "memories": asdict(done.edits), "complete": done.whole, "error": broken}
    if as_json:
        print_json({**report, "items": [asdict(each) for each in done.items]})
        return
    for each in done.items:
        if each.status in FAILED:
            say(f"{each.status}: {each.path}: {each.message} [{each.code}]")
    if done.edits.missing:
        say(f"{done.edits.missing} memories that were changed do not follow from these documents here")
    typer.echo(", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no documents")
    if done.edits.applied or done.edits.left:
        typer.echo(f"changes of memories: {done.edits.applied} made, {done.edits.left} left as they are here")
    if broken:
        say(f"eunoe: {broken}. What stands above was imported, the rest was not: import the whole export, which goes on from here")
