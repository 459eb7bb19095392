"""Fixtures for all tests. The real servers start only for tests that ask for them (marker `servers`)."""

from __future__ import annotations

import pytest
from servers.all import SERVERS
from servers.fixtures import cluster, servers

__all__ = ["cluster", "servers"]
WHOLE = "cluster"


def server_of(item: pytest.Item) -> str:
    """The server that a test needs, by its folder or its parameter; `cluster` when it needs several."""
    places = {*item.path.parts, *item.name.rpartition("[")[2].rstrip("]").split("-")}
    return next((name for name in SERVERS if name in places), WHOLE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one server run on one worker (`--dist loadgroup`), so that it is started once; those of the cluster, the longest, first."""
    for each in items:
        if each.get_closest_marker("servers"):
            each.add_marker(pytest.mark.xdist_group(server_of(each)))
    items.sort(key=lambda each: [mark.args[0] for mark in each.iter_markers("xdist_group")] != [WHOLE])
