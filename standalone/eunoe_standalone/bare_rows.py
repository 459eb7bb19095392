"""Rows of the index without a vector: indexed while there was no model, and found by words only until they are indexed again."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from eunoe_contracts.errors import EunoeError

from eunoe_standalone.data_directory import DataDirectory

REBUILD = "`eunoe doctor --rebuild`"

logger = logging.getLogger(__name__)


async def bare_rows(stores: DataDirectory) -> int:
    """How many there are, of all tenants. Looks at every row."""
    return sum([await stores.vectors.without_vectors(tenant) for tenant in await stores.catalogue.tenants()])


def advice(rows: int) -> str:
    """What they mean and what to do; for a running server."""
    return f"{rows} rows have no vector, since they were indexed without a model: stop the server and run {REBUILD}"


@dataclass(slots=True)
class BareRows:
    """Counted once, beside the start: a server with a model makes no new ones, and counting takes too long for a probe."""

    stores: DataDirectory
    rows: int = 0

    async def count(self) -> None:
        """Count, and warn when there are some."""
        try:
            self.rows = await bare_rows(self.stores)
        except EunoeError as error:
            logger.warning("counting rows without a vector: %s", error.code)
        if self.rows:
            logger.warning("%s", advice(self.rows))
