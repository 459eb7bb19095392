"""Pytest fixtures: each server starts when the first test asks for it and stops after the last one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from eunoe.v1 import admin_pb2, admin_pb2_grpc

from servers.all import SERVERS
from servers.cluster import Cluster
from servers.server import Server

TOKEN = "only-for-tests-on-loopback"  # noqa: S105 - guards nothing outside of one machine
OPERATOR_TOKEN = "of-the-operator-of-the-tests"  # noqa: S105 - guards nothing outside of one machine


class Servers:
    """The servers of a test session, by name."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._started: dict[str, Server] = {}

    def __getitem__(self, name: str) -> Server:
        """The server, running. One that a test killed must be started by that test."""
        if name not in self._started:
            server = SERVERS[name](self._folder / name)
            self._stack.callback(server.stop)
            server.start()
            self._started[name] = server
        return self._started[name]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """`servers["kafka"]` and so on."""
    with ExitStack() as stack:
        yield Servers(tmp_path_factory.mktemp("servers"), stack)


@pytest.fixture(scope="session")
def cluster(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The six services on all servers, in a name space of their own. A test that kills one starts it again."""
    settings = {"EUNOE_KAFKA__TOPIC_PREFIX": "cluster.", "EUNOE_AUTH__API_TOKEN": TOKEN, "EUNOE_AUTH__OPERATOR_TOKEN": OPERATOR_TOKEN}
    for name in SERVERS:
        settings |= servers[name].settings()
    running = Cluster(tmp_path_factory.mktemp("cluster"), settings)
    try:
        running.provision()
        running.start()
        yield running
    finally:
        running.stop()


def tenant_token(address: str, tenant: str, operator_token: str = OPERATOR_TOKEN) -> str:
    """A token of a tenant. One that nobody else uses has statistics of words, and counts, of one test's documents alone."""
    request = admin_pb2.CreateTokenRequest(name=tenant, scopes=["ingest", "search"], tenant=tenant)
    with grpc.insecure_channel(address) as channel:
        metadata = (("authorization", f"Bearer {operator_token}"),)
        return str(admin_pb2_grpc.AdminServiceStub(channel).CreateToken(request, timeout=30, metadata=metadata).secret)
