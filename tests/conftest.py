"""Fixtures for all tests. The real servers start only for tests that ask for them (marker `servers`)."""

from servers.fixtures import cluster, servers

__all__ = ["cluster", "servers"]
