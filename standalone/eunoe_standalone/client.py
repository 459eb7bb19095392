"""The command line's connection: gRPC to the running server of the data directory, or to one started inside this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from eunoe.v1 import admin_pb2_grpc, container_pb2_grpc, ingest_pb2_grpc, memory_pb2_grpc, search_pb2_grpc

from eunoe_standalone import rendezvous

CALL_TIMEOUT_S = 60.0


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
        """Call metadata with the secret."""
        return (("authorization", f"Bearer {self.secret}"),)


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


@contextmanager
def connect(data_dir: Path) -> Iterator[Connection]:
    """Connect; raises `DataDirectoryLocked` when another process holds the directory without serving it."""
    running = rendezvous.find(data_dir)
    if running is not None:
        with grpc.insecure_channel(running.grpc) as channel:
            yield _connection(channel, running.secret, is_embedded=False)
        return
    # Imported late: a command against a running server must not load the pipeline.
    from eunoe_standalone.background_server import background_server

    with background_server(data_dir) as (address, secret), grpc.insecure_channel(address) as channel:
        yield _connection(channel, secret, is_embedded=True)
