"""The real servers and the six processes for a measurement, and what their processes cost."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
from servers.all import SERVERS  # noqa: E402 - found only now
from servers.cluster import Cluster, ServiceProcess  # noqa: E402
from servers.server import Server  # noqa: E402

TOKEN = "only-for-measurements-on-loopback"  # noqa: S105 - guards nothing outside of one machine
LOOK_EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class OnServers:
    """What runs."""

    cluster: Cluster
    servers: Mapping[str, Server]

    def cpu_s(self) -> dict[str, float]:
        """Seconds of processor time that each process has used, children included."""
        running = {**{each.name: each for each in self.servers.values()}, **self.cluster.processes}
        return {name: _cpu_s(each.pid) for name, each in running.items() if each.process is not None and each.process.poll() is None}

    def http(self) -> httpx.Client:
        """A client of the gateway."""
        return httpx.Client(base_url=self.cluster.url, timeout=60, headers={"Authorization": f"Bearer {TOKEN}"})


def _cpu_s(pid: int) -> float:
    first, total = psutil.Process(pid), 0.0
    for each in (first, *first.children(recursive=True)):
        try:
            spent = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += spent.user + spent.system
    return total


@contextmanager
def on_servers(settings: Mapping[str, str], *, modules: Mapping[str, str], services: Sequence[str]) -> Iterator[OnServers]:
    """All five servers, provisioned, and these services."""
    os.environ["PYTHONPATH"] = str(HERE)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers = {name: kind(Path(folder) / name) for name, kind in SERVERS.items()}
        known: dict[str, str] = {"EUNOE_AUTH__API_TOKEN": TOKEN}
        for each in servers.values():
            stack.callback(each.stop)
            each.start()
            known |= each.settings()
        cluster = Cluster(Path(folder) / "cluster", {**known, **settings}, modules=modules)
        stack.callback(cluster.stop)
        cluster.provision()
        cluster.start(services)
        yield OnServers(cluster, servers)


def handled(process: ServiceProcess, stage: str) -> float:
    """Records of a stage that a process has done."""
    wanted = (f'stage="{stage}"', 'outcome="ok"')
    lines = [each for each in process.get("/metrics")[1].splitlines() if re.match(r"eunoe_stage_messages_total[ {]", each)]
    return sum(float(each.rpartition(" ")[2]) for each in lines if all(part in each for part in wanted))


def until(condition: Callable[[], bool], limit_s: float, what: str) -> float:
    """Seconds until it holds; ends the measurement when it does not."""
    started = time.perf_counter()
    while not condition():
        if time.perf_counter() - started > limit_s:
            raise SystemExit(f"{what}: not within {limit_s:.0f} s")
        time.sleep(LOOK_EVERY_S)
    return time.perf_counter() - started
