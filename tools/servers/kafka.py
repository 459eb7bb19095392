"""Apache Kafka, one node in KRaft mode (broker and controller in one process)."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from servers.failure import ServerFailure
from servers.installed import installed, run, tool
from servers.ports import HOST, free_ports
from servers.server import Server

VERSION = "4.3.1"
SCALA = "2.13"
SLF4J = "1.7.36"
"""Of Kafka's own; the small binding prints warnings to the standard error."""
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>servers-kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_{SCALA}</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>{SLF4J}</version></dependency>
  </dependencies>
</project>
"""
PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{broker},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{broker}
controller.listener.names=CONTROLLER
log.dirs={data}
auto.create.topics.enable=false
num.network.threads=2
num.io.threads=4
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.cleaner.dedupe.buffer.size=8388608
# A first join does not wait for others, and tests may declare a member dead after a second.
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
"""
CLUSTER = urlsafe_b64encode(b"eunoe-test-kafka").decode().rstrip("=")
ARCHIVE = "kafka.jsa"
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
API_VERSIONS = struct.pack(">hhih", 18, 0, 1, -1)
"""Api key, version, correlation id, no client id (https://kafka.apache.org/protocol#The_Messages_ApiVersions)."""


class Kafka(Server):
    """Kafka without transport security on loopback. Topics are not created by using them."""

    name = "kafka"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._ports: list[int] = []
        self._home = Path()
        self._classes = "-Xshare:auto"

    @property
    def address(self) -> str:
        """Host and port of the broker."""
        return f"{HOST}:{self._ports[0]}"

    def prepare(self) -> None:
        """Write the configuration and format the data folder once."""
        self._home = installed("kafka", VERSION, _install)
        self._classes = self._shared_classes()
        self._ports = self._ports or free_ports(2)
        data = self.folder / "data"
        self._configuration.write_text(
            PROPERTIES.format(host=HOST, broker=self._ports[0], controller=self._ports[1], data=data), encoding="utf-8"
        )
        if not (data / "meta.properties").exists():
            arguments = ["format", "--cluster-id", CLUSTER, "--config", str(self._configuration)]
            done = subprocess.run(
                [*self._java(heap="64m"), "kafka.tools.StorageTool", *arguments],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise ServerFailure(f"formatting Kafka's data folder ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def command(self) -> Sequence[str]:
        """The broker."""
        return [*self._java(heap="512m"), "kafka.Kafka", str(self._configuration)]

    def is_ready(self) -> bool:
        """It answers a request for its versions, which it does once it has registered with the controller."""
        try:
            with socket.create_connection((HOST, self._ports[0]), timeout=1) as connection:
                connection.settimeout(5)
                connection.sendall(struct.pack(">i", len(API_VERSIONS)) + API_VERSIONS)
                answer = connection.recv(10)
        except OSError:
            return False
        # Length, correlation id, error code.
        return len(answer) == struct.calcsize(">iih") and struct.unpack(">iih", answer)[1:] == (1, 0)

    def settings(self) -> Mapping[str, str]:
        """Address, and one replica since there is one node."""
        return {"EUNOE_KAFKA__BOOTSTRAP_SERVERS": self.address, "EUNOE_KAFKA__REPLICATION": "1"}

    @property
    def _configuration(self) -> Path:
        return self.folder / "server.properties"

    def _java(self, *, heap: str) -> list[str]:
        options = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", self._classes, QUIET]
        return [tool("java", "default-jre-headless"), *options, "-cp", str(self._home / "lib" / "*")]

    def _shared_classes(self) -> str:
        """Reading the classes from an archive halves the processor time of a start; another Java than the one that wrote it ignores it."""
        return f"-XX:SharedArchiveFile={installed('kafka-classes', VERSION, _archive) / ARCHIVE}"


class _FirstRun(Kafka):
    """Writes that archive when it ends."""

    def _shared_classes(self) -> str:
        return f"-XX:ArchiveClassesAtExit={self.folder.parent / ARCHIVE}"


def _archive(folder: Path) -> None:
    first = _FirstRun(folder / "run")
    first.start()
    first.stop()
    shutil.rmtree(first.folder)


def _install(folder: Path) -> None:
    maven = tool("mvn", "maven")
    (folder / "pom.xml").write_text(POM, encoding="utf-8")
    run([maven, "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib"], folder=folder)
