"""The `Parser` of production: files are read in worker processes of the sandbox; only short plain text needs none."""

from __future__ import annotations

import asyncio
from pathlib import Path

from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.pool import Counts, WorkerPool

from eunoe_extractor.backends import text
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.registry import PRELOAD
from eunoe_extractor.parsed import ParsedDocument
from eunoe_extractor.wire import from_wire

JOB = "eunoe_extractor.job:run"
SHORT_TEXT_BYTES = 64 * 1024
DEFAULT_OPTIONS = ParseOptions()
DEFAULT_LIMITS = Limits()


class SandboxedParser:
    """`Parser` on a `WorkerPool`. It does not own the pool: whoever made it starts and stops it."""

    def __init__(self, pool: WorkerPool, options: ParseOptions = DEFAULT_OPTIONS) -> None:
        self._pool = pool
        self._options = options

    async def parse(self, path: Path, *, format_id: str, name: str) -> ParsedDocument:
        """See `Parser.parse`; limits are those of the pool. `path` must be absolute: a worker has its own working directory."""
        if format_id == text.FORMAT and (plain := await asyncio.to_thread(_short_text, path, name, self._options)) is not None:
            return plain
        return from_wire(await self._pool.run(JOB, format_id, path, name, self._options))


def _short_text(path: Path, name: str, options: ParseOptions) -> ParsedDocument | None:
    """A short UTF-8 text, read here: splitting it at empty lines is all that its parser does, and conversations are made of such.

    None for what needs a look at its character set, or is long.
    """
    if path.stat().st_size > SHORT_TEXT_BYTES:
        return None
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text.parse(path, name=name, options=options)


def parser_pool(workers: int, limits: Limits = DEFAULT_LIMITS, metrics: Counts | None = None) -> WorkerPool:
    """A pool whose workers have the parsers loaded; nothing is started yet."""
    return WorkerPool(limits, workers, PRELOAD, metrics)
