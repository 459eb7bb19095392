"""Neo4j Community from Maven, on Java 17, with little memory and without its HTTP door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from servers.installed import installed, run, tool
from servers.ports import HOST, free_ports, is_open
from servers.server import Server

VERSION = "5.26.16"
USER = "neo4j"
FIRST_PASSWORD = "neo4j"  # noqa: S105 - the one that every new server has
PASSWORD = "eunoe-test-server"  # noqa: S105 - of a server on loopback with data of tests

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>eunoe</groupId><artifactId>neo4j-server</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>{VERSION}</version></dependency>
  </dependencies>
</project>
"""

SETTINGS = """server.default_listen_address={host}
server.bolt.enabled=true
server.bolt.listen_address={host}:{port}
server.bolt.advertised_address={host}:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=64m
db.tx_log.rotation.size=16m
db.tx_log.preallocate=false
db.logs.query.enabled=OFF
dbms.usage_report.enabled=false
dbms.security.auth_max_failed_attempts=0
"""

# The packages that the server reads by reflection (from its own start script).
OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.util.concurrent", "java.base/java.lang")
# The machine of a test has few cores, and others need them: one thread collects garbage, and only the quick compiler works, which takes
# a third off the processor time of a start and of the first minutes.
JAVA = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:-UsePerfData")


class Neo4j(Server):
    """Database `neo4j`, user `neo4j`."""

    name = "neo4j"
    start_s = 240.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.port,) = free_ports(1)

    @property
    def uri(self) -> str:
        """Where drivers find it."""
        return f"bolt://{HOST}:{self.port}"

    def prepare(self) -> None:
        """See `Server.prepare`."""
        tool("java", "openjdk-17-jre-headless")
        installed("neo4j", VERSION, _install)
        settings = self.folder / "conf" / "neo4j.conf"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(SETTINGS.format(host=HOST, port=self.port), encoding="utf-8")

    def command(self) -> Sequence[str]:
        """See `Server.command`."""
        java = tool("java", "openjdk-17-jre-headless")
        programs = installed("neo4j", VERSION, _install) / "lib" / "*"
        opened = [f"--add-opens={each}=ALL-UNNAMED" for each in OPENED]
        places = (f"--home-dir={self.folder}", f"--config-dir={self.folder / 'conf'}")
        return (java, *JAVA, *opened, "-cp", str(programs), "org.neo4j.server.CommunityEntryPoint", *places)

    def is_ready(self) -> bool:
        """It answers a statement of our user, whose password is set at the first start."""
        if not is_open(self.port):
            return False
        changed = self.folder / "password-is-set"
        if not changed.exists():
            statement = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
            if not self._answers(FIRST_PASSWORD, "system", statement, old=FIRST_PASSWORD, new=PASSWORD):
                return False
            changed.touch()
        return self._answers(PASSWORD, "neo4j", "RETURN 1")

    def settings(self) -> Mapping[str, str]:
        """See `Server.settings`."""
        return {"EUNOE_NEO4J__URI": self.uri, "EUNOE_NEO4J__USER": USER, "EUNOE_NEO4J__PASSWORD": PASSWORD}

    def _answers(self, password: str, database: str, statement: str, **parameters: str) -> bool:
        try:
            with (
                GraphDatabase.driver(self.uri, auth=(USER, password), connection_timeout=2, telemetry_disabled=True) as driver,
                driver.session(database=database) as session,
            ):
                session.run(statement, parameters).consume()  # type: ignore[arg-type]
        except AuthError:
            # Killed after it had changed the password and before we had noted that.
            return database == "system"
        except (DriverError, Neo4jError, OSError):
            return False
        return True


def _install(folder: Path) -> None:
    (folder / "pom.xml").write_text(POM, encoding="utf-8")
    maven = tool("mvn", "maven")
    run([maven, "-B", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime"], folder=folder)
