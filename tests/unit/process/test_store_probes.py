"""Each probe asks its store for something, so that a store that is away is told."""

from __future__ import annotations

from typing import Any

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_process.readiness import ask
from eunoe_process.store_probes import store_probes
from eunoe_process.stores import StoreName, Stores


class Away:
    """A store whose server is away: it answers only questions about nothing."""

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: object) -> object:
            if arguments and arguments[-1] == []:
                return {}
            raise StoreUnavailable

        return call


@pytest.mark.parametrize("name", StoreName)
async def test_a_store_that_is_away_is_not_ready(name: StoreName) -> None:
    parts = await ask(store_probes(Stores({name: Away()})), 1.0)
    assert [(part, each.ok) for part, each in parts.items()] == [(name.value, False)]
