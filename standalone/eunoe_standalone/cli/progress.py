"""Progress of an ingest on stderr: bars on a terminal, a line now and then elsewhere, nothing with `--json`."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from eunoe_standalone.cli.output import say
from eunoe_standalone.cli.upload import Item

LINE_EVERY_S = 2.0


class IngestProgress(Protocol):
    """Told about each accepted and each ended file."""

    def accepted(self, item: Item, /) -> None:
        """A file is durably stored, or was refused."""
        ...

    def ended(self, item: Item, /) -> None:
        """A document has ended."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


class Silent:
    """Shows nothing."""

    def accepted(self, _item: Item, /) -> None:
        """Nothing."""

    def ended(self, _item: Item, /) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass


class Lines(Silent):
    """A line every two seconds, for logs and pipes."""

    def __init__(self, total: int) -> None:
        self._total, self._accepted, self._ended, self._shown = total, 0, 0, time.monotonic()

    def accepted(self, _item: Item, /) -> None:
        """Count it."""
        self._accepted += 1
        self._show()

    def ended(self, _item: Item, /) -> None:
        """Count it."""
        self._ended += 1
        self._show()

    def _show(self) -> None:
        if time.monotonic() - self._shown >= LINE_EVERY_S:
            self._shown = time.monotonic()
            say(f"{self._accepted} of {self._total} accepted, {self._ended} processed")


class Bars:
    """Two bars."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=Console(stderr=True)
        )
        self._upload = self._bars.add_task("accepted", total=total)
        self._work = self._bars.add_task("processed", total=total)

    def accepted(self, item: Item, /) -> None:
        """Move the first bar; a refused or unchanged file has no work left."""
        self._bars.advance(self._upload)
        if not item.id or item.status in {"refused", "unchanged", "done"}:
            self._bars.advance(self._work)

    def ended(self, _item: Item, /) -> None:
        """Move the second bar."""
        self._bars.advance(self._work)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()


def progress_for(total: int, *, quiet: bool) -> IngestProgress:
    """The fitting display."""
    if quiet:
        return Silent()
    return Bars(total) if sys.stderr.isatty() else Lines(total)
