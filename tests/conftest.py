"""Fixtures for all tests. The real servers start only for tests that ask for them (marker `servers`)."""

from __future__ import annotations

import pytest
from servers.fixtures import cluster, servers

__all__ = ["cluster", "servers"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the six processes first: what is most likely to fail is known early."""
    items.sort(key=lambda each: "cluster" not in each.path.parts)
