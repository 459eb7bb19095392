"""Says which formats this process reads, so that the doors accept no other ones."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Collection

from eunoe_contracts.capabilities import EXTRACTOR, REPORT_EVERY
from eunoe_contracts.clock import Clock
from eunoe_contracts.errors import ConfigurationError, as_eunoe_error
from eunoe_stores.catalogue.port import CapabilityCatalogue

from eunoe_extractor.backends.registry import BACKENDS, LIBRARIES

logger = logging.getLogger(__name__)


def formats_at_hand(chosen: Collection[str] = ()) -> frozenset[str]:
    """The formats that have a parser whose libraries are installed; of those only the `chosen`, when there are some.

    Raises `ConfigurationError` for a chosen one that is not at hand. Imports no parser.
    """
    found = frozenset(each for each in BACKENDS if all(importlib.util.find_spec(name) is not None for name in LIBRARIES.get(each, ())))
    missing = sorted(set(chosen) - found)
    if missing:
        raise ConfigurationError(f"EUNOE_EXTRACTOR__FORMATS: no parser for {', '.join(missing)}; there is {', '.join(sorted(found))}")
    return found & frozenset(chosen) if chosen else found


class Announcement:
    """Tells the catalogue at the start, and again and again."""

    def __init__(self, catalogue: CapabilityCatalogue, clock: Clock, instance: str, formats: frozenset[str]) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._instance = instance
        self._formats = formats

    async def run(self) -> None:
        """For ever. A report that fails is left to the next one."""
        while True:
            try:
                await self._catalogue.report_capabilities(EXTRACTOR, self._instance, self._formats, now=self._clock.now())
            except Exception as error:  # noqa: BLE001 - the next report must come all the same
                logger.warning("the formats of this process could not be told: %s", as_eunoe_error(error).code)
            await self._clock.sleep(REPORT_EVERY.total_seconds())
