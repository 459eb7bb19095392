"""eunoe's six services as processes on the real servers, each startable and killable alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

from servers.failure import ServerFailure
from servers.ports import HOST, free_ports
from servers.server import Server

MODULES: Mapping[str, str] = {
    "embedder": "eunoe_embedder.main",
    "search": "eunoe_search.main",
    "extractor": "eunoe_extractor.main",
    "llm-extractor": "eunoe_llm_extractor.main",
    "graph": "eunoe_graph.main",
    "gateway": "eunoe_gateway.main",
}
PROVISION_S = 180
SECRET = "only-for-tests-on-loopback"  # noqa: S105 - guards nothing outside of one machine


class ServiceProcess(Server):
    """One replica of a service. It is ready when its admin port says that it serves."""

    def __init__(
        self, folder: Path, service: str, settings: Mapping[str, str], *, module: str = "", replica: int = 0, grpc: int = 0
    ) -> None:
        self.name = f"{service}-{replica}"
        super().__init__(folder)
        self.service = service
        self._module = module or MODULES[service]
        admin, free, self.http = free_ports(3)
        self.grpc = grpc or free
        self.admin = f"http://{HOST}:{admin}"
        self._settings = {**settings, "EUNOE_PROCESS__ADMIN": f"{HOST}:{admin}", "EUNOE_PROCESS__GRPC": f"{HOST}:{self.grpc}"}
        if service == "gateway":
            self._settings |= {"EUNOE_SERVER__HTTP": f"{HOST}:{self.http}", "EUNOE_SERVER__GRPC": f"{HOST}:{self.grpc}"}

    def prepare(self) -> None:
        """Nothing: it keeps nothing on disk."""

    def command(self) -> Sequence[str]:
        """The module's main, in this interpreter."""
        return [sys.executable, "-m", self._module]

    def environment(self) -> Mapping[str, str]:
        """Where everything is."""
        return self._settings

    def settings(self) -> Mapping[str, str]:
        """How other processes find it."""
        return self._settings

    def is_ready(self) -> bool:
        """It serves."""
        return self.get("/serving")[0] == HTTPStatus.OK

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of an admin path; 0 when nothing answers."""
        try:
            with urllib.request.urlopen(f"{self.admin}{path}", timeout=5) as answer:  # noqa: S310 - our own address
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except OSError:
            return 0, ""

    def parts(self) -> Mapping[str, Mapping[str, object]]:
        """What `/ready` says of each part."""
        found: Mapping[str, Mapping[str, object]] = json.loads(self.get("/ready")[1] or "{}").get("parts", {})
        return found


class Cluster:
    """Processes that share one set of servers and a name space of their own on them. `settings` are given to all of them; `modules`
    are other programs in the place of some services.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str], *, modules: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._modules = {**MODULES, **(modules or {})}
        self.processes: dict[str, ServiceProcess] = {}
        embedder, search = free_ports(2)
        self.settings = {
            **settings,
            "EUNOE_INTERNAL__SECRET": SECRET,
            "EUNOE_INTERNAL__EMBEDDER": f"{HOST}:{embedder}",
            "EUNOE_INTERNAL__SEARCH": f"{HOST}:{search}",
        }
        self._grpc = {"embedder": embedder, "search": search}

    def provision(self) -> None:
        """Topics, tables, collection, constraints and bucket. Raises `ServerFailure`."""
        done = subprocess.run(
            [Path(sys.executable).with_name("eunoe"), "admin", "provision"],
            env={**os.environ, **self.settings},
            capture_output=True,
            text=True,
            timeout=PROVISION_S,
            check=False,
        )
        if done.returncode:
            raise ServerFailure(f"eunoe admin provision ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def add(self, service: str) -> ServiceProcess:
        """Start one more replica of a service."""
        replica = sum(each.service == service for each in self.processes.values())
        grpc = 0 if replica else self._grpc.get(service, 0)
        process = ServiceProcess(
            self.folder / f"{service}-{replica}", service, self.settings, module=self._modules[service], replica=replica, grpc=grpc
        )
        self.processes[process.name] = process
        process.start()
        return process

    def start(self, services: Iterable[str] = tuple(MODULES)) -> None:
        """One of each."""
        for each in services:
            self.add(each)

    def stop(self) -> None:
        """All of them, the doors first. May be called twice."""
        for process in reversed(list(self.processes.values())):
            process.stop()

    @property
    def url(self) -> str:
        """Base URL of the gateway's HTTP door."""
        return f"http://{HOST}:{self['gateway'].http}"

    @property
    def grpc(self) -> str:
        """Address of the gateway's gRPC door."""
        return f"{HOST}:{self['gateway'].grpc}"

    def __getitem__(self, service: str) -> ServiceProcess:
        """The first replica of a service."""
        return self.processes[f"{service}-0"]
