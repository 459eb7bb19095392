"""The `Parser` of production: every file is read in a worker process of the sandbox."""

from __future__ import annotations

from pathlib import Path

from eunoe_safety.sandbox.limits import Limits
from eunoe_safety.sandbox.pool import Counts, WorkerPool

from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.registry import PRELOAD
from eunoe_extractor.parsed import ParsedDocument
from eunoe_extractor.wire import from_wire

JOB = "eunoe_extractor.job:run"
DEFAULT_OPTIONS = ParseOptions()
DEFAULT_LIMITS = Limits()


class SandboxedParser:
    """`Parser` on a `WorkerPool`. It does not own the pool: whoever made it starts and stops it."""

    def __init__(self, pool: WorkerPool, options: ParseOptions = DEFAULT_OPTIONS) -> None:
        self._pool = pool
        self._options = options

    async def parse(self, path: Path, *, format_id: str, name: str) -> ParsedDocument:
        """See `Parser.parse`; limits are those of the pool. `path` must be absolute: a worker has its own working directory."""
        return from_wire(await self._pool.run(JOB, format_id, path, name, self._options))


def parser_pool(workers: int, limits: Limits = DEFAULT_LIMITS, metrics: Counts | None = None) -> WorkerPool:
    """A pool whose workers have the parsers loaded; nothing is started yet."""
    return WorkerPool(limits, workers, PRELOAD, metrics)
