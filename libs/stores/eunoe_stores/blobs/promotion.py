"""Uploads that become blobs, several at once: one change of thread and one sync of each directory for all that wait together."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from pathlib import Path

from eunoe_stores.blobs.files import make_directories, named_errors, sync_bytes, sync_directory


@dataclass(slots=True, eq=False)
class _Move:
    source: Path
    target: Path
    done: asyncio.Future[None]
    error: BaseException | None = None
    changed: list[Path] = field(default_factory=list)


class Promotion:
    """Moves files below `root` to their place, durably. Use it from one event loop; `tree` is held while directories change."""

    def __init__(self, root: Path, tree: threading.Lock) -> None:
        self._root = root
        self._tree = tree
        self._waiting: list[_Move] = []
        self._sender: asyncio.Task[None] | None = None

    async def move(self, source: Path, target: Path) -> None:
        """Return when the file's bytes and its new name are on the disk. May be called twice; raises what `named_errors` names.

        A move that was begun is finished, also when its caller is cancelled.
        """
        move = _Move(source, target, asyncio.get_running_loop().create_future())
        self._waiting.append(move)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send(), name="promote blobs")
        await move.done

    def move_now(self, source: Path, target: Path) -> None:
        """The same, in this thread."""
        for directory in self._place(source, target):
            sync_directory(directory)

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._run, batch)
            for each in batch:
                if not each.done.done():
                    each.done.set_result(None) if each.error is None else each.done.set_exception(each.error)

    def _run(self, batch: list[_Move]) -> None:
        for each in batch:
            try:
                with named_errors():
                    each.changed = self._place(each.source, each.target)
            except Exception as error:  # noqa: BLE001 - it goes to the caller
                each.error = error
        directories = dict.fromkeys(directory for each in batch if each.error is None for directory in each.changed)
        for directory in directories:
            try:
                with named_errors():
                    sync_directory(directory)
            except Exception as error:  # noqa: BLE001 - it goes to all whose names are in there
                for each in batch:
                    if directory in each.changed:
                        each.error = each.error or error

    def _place(self, source: Path, target: Path) -> list[Path]:
        """Returns the directories to sync afterwards."""
        with self._tree:
            parents = make_directories(target.parent, self._root)
            try:
                sync_bytes(source)
                source.replace(target)
            except FileNotFoundError:
                if not target.is_file():
                    raise
                # Promoted before; that call may have been cut off before its names were durable.
        return [target.parent, *parents]
