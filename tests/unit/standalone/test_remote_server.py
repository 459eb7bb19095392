"""Commands that are told of a server by its address: where it stands, which token goes along, and by TLS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from eunoe.v1 import container_pb2, container_pb2_grpc
from eunoe_contracts.errors import ConfigurationError
from eunoe_standalone.remote_server import RemoteServer, remote_server

EUNOE = str(Path(sys.executable).parent / "eunoe")


@pytest.fixture(autouse=True)
def _nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EUNOE_CLIENT__SERVER", "EUNOE_CLIENT__TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_option_then_the_environment_then_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remote_server() is None
    (tmp_path / ".env").write_text("EUNOE_CLIENT__SERVER=file:1\nEUNOE_CLIENT__TOKEN=of the file\n", encoding="utf-8")
    assert remote_server() == RemoteServer("file:1", "of the file", tls=False)
    monkeypatch.setenv("eunoe_client__server", "https://environment:2")
    assert remote_server() == RemoteServer("environment:2", "of the file", tls=True)
    assert remote_server("option:3") == RemoteServer("option:3", "of the file", tls=False)
    monkeypatch.setenv("EUNOE_CLIENT__TOKEN", "own")
    assert remote_server("[::1]:4") == RemoteServer("[::1]:4", "own", tls=False)


def test_a_token_is_not_shown_and_a_wrong_address_is_named() -> None:
    assert "own" not in repr(RemoteServer("a:1", "own", tls=False))
    with pytest.raises(ConfigurationError, match="--server: 'nowhere'"):
        remote_server("nowhere")


class Containers(container_pb2_grpc.ContainerServiceServicer):
    """Answers with what it was called with."""

    def List(self, request: container_pb2.ContainerServiceListRequest, context: grpc.ServicerContext):  # noqa: N802 - gRPC's
        called = dict(context.invocation_metadata()).get("authorization", "nothing")
        return container_pb2.ContainerServiceListResponse(containers=[{"name": str(called)}])


def certificate() -> tuple[bytes, bytes]:
    """Key and certificate of localhost, for an hour."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(hours=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private, made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A plain port and one with TLS, whose certificate lies in `roots.pem`."""
    key, chain = certificate()
    (tmp_path / "roots.pem").write_bytes(chain)
    server = grpc.server(ThreadPoolExecutor(2))
    container_pb2_grpc.add_ContainerServiceServicer_to_server(Containers(), server)
    plain = server.add_insecure_port("localhost:0")
    safe = server.add_secure_port("localhost:0", grpc.ssl_server_credentials([(key, chain)]))
    server.start()
    yield f"localhost:{plain}", f"https://localhost:{safe}"
    server.stop(None).wait()


def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([EUNOE, *words], capture_output=True, text=True, timeout=50, check=False, env={**os.environ, **settings})


def asked(*words: str, **settings: str) -> str:
    done = run("containers", "--json", *words, **settings)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["containers"][0]["name"])


def test_the_token_goes_along(doors: tuple[str, str]) -> None:
    plain, safe = doors
    assert asked("--server", plain) == "nothing"
    assert asked(EUNOE_CLIENT__SERVER=plain, EUNOE_CLIENT__TOKEN="own") == "Bearer own"
    assert asked("--server", safe, EUNOE_CLIENT__TOKEN="own", GRPC_DEFAULT_SSL_ROOTS_FILE_PATH="roots.pem") == "Bearer own"
    unknown = run("containers", "--server", safe, EUNOE_CLIENT__TOKEN="own")
    assert unknown.returncode == 3, "a certificate that nobody vouches for"


def test_usage_errors(tmp_path: Path) -> None:
    for words in (("--server", "nowhere"), ("--server", "a:1", "--data-dir", str(tmp_path))):
        done = run("containers", *words)
        assert (done.returncode, "--server" in done.stderr) == (2, True), done.stderr
    assert run("status", "--server", "localhost:1").returncode == 3
