"""An S3 server: versitygw, one binary, built by `go install`, with objects as files."""

from __future__ import annotations

import http.client
from collections.abc import Mapping, Sequence
from pathlib import Path

from servers.installed import installed, run, tool
from servers.ports import HOST, free_ports
from servers.server import Server

VERSION = "1.8.0"
PACKAGE = f"github.com/versity/versitygw/cmd/versitygw@v{VERSION}"
ACCESS_KEY, SECRET_KEY = "eunoe-of-the-tests", "secret-of-the-tests"
ANSWER_S = 2.0


class S3(Server):
    """One server on loopback without TLS."""

    name = "s3"
    start_s = 60.0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.port,) = free_ports(1)
        self._program = Path()

    def prepare(self) -> None:
        """See `Server.prepare`."""
        self._program = installed("versitygw", VERSION, _install) / "versitygw"
        (self.folder / "data").mkdir(exist_ok=True)

    def command(self) -> Sequence[str]:
        """See `Server.command`."""
        return [str(self._program), "--port", f"{HOST}:{self.port}", "posix", str(self.folder / "data")]

    def environment(self) -> Mapping[str, str]:
        """See `Server.environment`."""
        return {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}

    def is_ready(self) -> bool:
        """See `Server.is_ready`: it answers; without a signature it refuses."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_S)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status == http.client.FORBIDDEN
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def settings(self) -> Mapping[str, str]:
        """See `Server.settings`."""
        return {
            "EUNOE_S3__ENDPOINT": f"{HOST}:{self.port}",
            "EUNOE_S3__TLS": "false",
            "EUNOE_S3__ACCESS_KEY": ACCESS_KEY,
            "EUNOE_S3__SECRET_KEY": SECRET_KEY,
            "EUNOE_S3__BUCKET": "eunoe",
            "EUNOE_S3__CREATE_BUCKET": "true",
        }


def _install(folder: Path) -> None:
    run([tool("go", "golang"), "install", PACKAGE], folder=folder, environment={"GOBIN": str(folder), "GOFLAGS": "-trimpath"})
