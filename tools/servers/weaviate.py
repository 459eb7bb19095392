"""Weaviate: one binary, built by `go install`, with one node."""

from __future__ import annotations

import http.client
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from servers.installed import installed, run, tool
from servers.ports import HOST, free_ports, is_open
from servers.server import Server

VERSION = "1.35.2"
PACKAGE = f"github.com/weaviate/weaviate/cmd/weaviate-server@v{VERSION}"
ANSWER_S = 2.0


class Weaviate(Server):
    """HTTP and gRPC ports, anonymous access. It indexes vectors in the background: with the other way a kill loses acknowledged ones."""

    name = "weaviate"
    start_s = 180.0

    def prepare(self) -> None:
        """See `Server.prepare`."""
        self._program = installed(self.name, VERSION, _install) / "weaviate-server"
        (self.folder / "data").mkdir(exist_ok=True)

    def command(self) -> Sequence[str]:
        """See `Server.command`."""
        return [str(self._program), "--host", HOST, "--port", str(self._ports["http"]), "--scheme", "http"]

    def is_ready(self) -> bool:
        """See `Server.is_ready`."""
        connection = http.client.HTTPConnection(HOST, self._ports["http"], timeout=ANSWER_S)
        try:
            connection.request("GET", "/v1/.well-known/ready")
            return connection.getresponse().status == http.client.OK and is_open(self._ports["grpc"])
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def settings(self) -> Mapping[str, str]:
        """See `Server.settings`."""
        return {
            "EUNOE_WEAVIATE__HTTP_HOST": HOST,
            "EUNOE_WEAVIATE__HTTP_PORT": str(self._ports["http"]),
            "EUNOE_WEAVIATE__GRPC_HOST": HOST,
            "EUNOE_WEAVIATE__GRPC_PORT": str(self._ports["grpc"]),
        }

    def environment(self) -> Mapping[str, str]:
        """See `Server.environment`."""
        ports = self._ports
        return {
            "PERSISTENCE_DATA_PATH": str(self.folder / "data"),
            "GRPC_PORT": str(ports["grpc"]),
            "CLUSTER_HOSTNAME": "node1",
            "CLUSTER_BIND_ADDR": HOST,
            "CLUSTER_ADVERTISE_ADDR": HOST,
            "CLUSTER_GOSSIP_BIND_PORT": str(ports["gossip"]),
            "CLUSTER_DATA_BIND_PORT": str(ports["data"]),
            "RAFT_PORT": str(ports["raft"]),
            "RAFT_INTERNAL_RPC_PORT": str(ports["raft_rpc"]),
            "RAFT_BOOTSTRAP_EXPECT": "1",
            "ASYNC_INDEXING": "true",
            # By default a tenant's vectors wait while there is no pause of 100 ms in the writing, and are looked for once a second.
            "ASYNC_INDEXING_STALE_TIMEOUT": "1ms",
            "QUEUE_SCHEDULER_INTERVAL": "100ms",
            # The default, BlockMax WAND, takes the first rows for the best ones while these are not yet flushed to a segment.
            "USE_INVERTED_SEARCHABLE": "false",
            "AUTOSCHEMA_ENABLED": "false",
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
            "DEFAULT_VECTORIZER_MODULE": "none",
            "ENABLE_API_BASED_MODULES": "false",
            "DISABLE_TELEMETRY": "true",
            "GO_PROFILING_DISABLE": "true",
            "LOG_LEVEL": "warning",
        }

    @cached_property
    def _ports(self) -> Mapping[str, int]:
        """The same ones after a restart."""
        names = ("http", "grpc", "gossip", "data", "raft", "raft_rpc")
        return dict(zip(names, free_ports(len(names)), strict=True))


def _install(folder: Path) -> None:
    """Some minutes; the compiler's cache is kept where the user's is."""
    run([tool("go", "golang"), "install", PACKAGE], folder=folder, environment={"GOBIN": str(folder), "GOFLAGS": "-ldflags=-s"})
