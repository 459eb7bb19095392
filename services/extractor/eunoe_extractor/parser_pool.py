"""The extractor's parser processes, started before the first document needs one."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from eunoe_contracts.errors import EunoeError
from eunoe_telemetry.metrics import Metrics

from eunoe_extractor.config import ExtractorSettings
from eunoe_extractor.parsing import SandboxedParser, parser_pool


class ParserPool:
    """A pool and the parser on top of it, as an async context."""

    def __init__(self, settings: ExtractorSettings, metrics: Metrics) -> None:
        self._pool = parser_pool(settings.parser_workers, settings.sandbox, metrics)
        self.parser = SandboxedParser(self._pool)

    async def __aenter__(self) -> Self:
        await self._pool.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._pool.stop()

    async def probe(self) -> tuple[bool, str]:
        """Whether parser processes can be had, and which walls they have."""
        try:
            await self._pool.start()
        except EunoeError as error:
            return False, error.message
        report = self._pool.report
        return True, f"network {report.network}" if report else "starting"
