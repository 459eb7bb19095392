"""The command line's connection: gRPC to a server that was named, to that of the data directory, or to one started in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from eunoe.v1 import admin_pb2_grpc, container_pb2_grpc, ingest_pb2_grpc, memory_pb2_grpc, search_pb2_grpc
from eunoe_contracts.errors import DataDirectoryLocked
from eunoe_stores.sqlite.lock import DataDirectoryLock

from eunoe_standalone import rendezvous
from eunoe_standalone.products import one_thread_for_products
from eunoe_standalone.remote_server import RemoteServer
from eunoe_standalone.rendezvous import RunningServer

CALL_TIMEOUT_S = 60.0
START_WAIT_S = 10.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Connection:
    """Stubs of all services. `is_embedded` tells that the server lives only as long as this command."""

    ingest: ingest_pb2_grpc.IngestServiceStub
    memories: memory_pb2_grpc.MemoryServiceStub
    search: search_pb2_grpc.SearchServiceStub
    containers: container_pb2_grpc.ContainerServiceStub
    admin: admin_pb2_grpc.AdminServiceStub
    secret: str
    is_embedded: bool

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Call metadata with the secret; a server elsewhere may ask for none."""
        return (("authorization", f"Bearer {self.secret}"),) if self.secret else ()


def _connection(channel: grpc.Channel, secret: str, *, is_embedded: bool) -> Connection:
    return Connection(
        ingest_pb2_grpc.IngestServiceStub(channel),
        memory_pb2_grpc.MemoryServiceStub(channel),
        search_pb2_grpc.SearchServiceStub(channel),
        container_pb2_grpc.ContainerServiceStub(channel),
        admin_pb2_grpc.AdminServiceStub(channel),
        secret,
        is_embedded,
    )


def _found(data_dir: Path) -> RunningServer | None:
    """The running server. One that has the directory and does not serve it yet is starting, and gets a moment."""
    end = time.monotonic() + START_WAIT_S
    while True:
        running = rendezvous.find(data_dir)
        if running is not None or DataDirectoryLock(data_dir).owner() is None or time.monotonic() > end:
            return running
        time.sleep(LOOK_EVERY_S)


@contextmanager
def connect(where: Path | RemoteServer) -> Iterator[Connection]:
    """Connect; raises `DataDirectoryLocked` when another process holds the data directory without serving it."""
    with ExitStack() as stack:
        if isinstance(where, RemoteServer):
            yield _connection(stack.enter_context(_channel(where)), where.token, is_embedded=False)
            return
        running = _found(where)
        if running is None:
            try:
                address, secret = stack.enter_context(_own_server(where))
            except DataDirectoryLocked:  # a server was quicker
                running = _found(where)
                if running is None:
                    raise
        if running is not None:
            address, secret = running.grpc, running.secret
        channel = stack.enter_context(grpc.insecure_channel(address))
        yield _connection(channel, secret, is_embedded=running is None)


def _channel(server: RemoteServer) -> grpc.Channel:
    return grpc.secure_channel(server.address, grpc.ssl_channel_credentials()) if server.tls else grpc.insecure_channel(server.address)


def _own_server(data_dir: Path) -> AbstractContextManager[tuple[str, str]]:
    # Imported late: a command against a running server must not load the pipeline.
    one_thread_for_products()
    from eunoe_standalone.background_server import background_server

    return background_server(data_dir)
