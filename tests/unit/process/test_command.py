"""The processes as commands: what they say before they connect to anything, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from eunoe_process.exit_codes import ExitCode

MODULES = ("eunoe_gateway", "eunoe_extractor", "eunoe_embedder", "eunoe_llm_extractor", "eunoe_graph", "eunoe_search")
SECRET = "never shown to anybody"


def command(module: str, *arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EUNOE_")}
    return subprocess.run(
        [sys.executable, "-m", f"{module}.main", *arguments],
        env={**environment, **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.mark.parametrize("module", MODULES)
def test_every_setting_is_printed_and_no_secret(module: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"EUNOE_INTERNAL__SECRET={SECRET}\nEUNOE_POSTGRES__PASSWORD={SECRET}\n", encoding="utf-8")
    done = command(module, "--print-config", "--json", folder=tmp_path, EUNOE_PROCESS__DRAIN_S="12", EUNOE_AUTH__API_TOKEN=SECRET)
    assert done.returncode == ExitCode.OK, done.stderr
    assert SECRET not in done.stdout + done.stderr
    rows = {each["variable"]: (each["value"], each["origin"]) for each in json.loads(done.stdout)}
    assert rows["EUNOE_PROCESS__DRAIN_S"] == ("12.0", "environment")
    assert rows["EUNOE_INTERNAL__SECRET"] == ("(set)", ".env")
    assert rows["EUNOE_POSTGRES__PASSWORD"] == ("(set)", ".env")
    assert ("EUNOE_AUTH__API_TOKEN" in rows) == (module == "eunoe_gateway")
    assert ("EUNOE_NEO4J__PASSWORD" in rows) == (module in {"eunoe_gateway", "eunoe_graph", "eunoe_search"})


def test_the_gateway_may_share_the_settings_of_the_one_process(tmp_path: Path) -> None:
    keys = {"EUNOE_S3__ACCESS_KEY": "a", "EUNOE_S3__SECRET_KEY": "b"}
    done = command("eunoe_gateway", "--check", folder=tmp_path, EUNOE_SERVER__DATA_DIR="/x", EUNOE_GATEWAY__QUEUE_LIMIT="5", **keys)
    assert done.returncode == ExitCode.OK, done.stderr


def test_settings_are_checked_without_a_connection(tmp_path: Path) -> None:
    done = command("eunoe_graph", "--check", folder=tmp_path)
    assert (done.returncode, done.stderr) == (ExitCode.OK, "eunoe-graph: the settings are valid\n")


@pytest.mark.parametrize(
    ("module", "variable", "value", "said"),
    [
        ("eunoe_graph", "EUNOE_PROCESS__DRIAN_S", "5", "unknown setting EUNOE_PROCESS__DRIAN_S; `eunoe-graph --print-config` lists"),
        ("eunoe_graph", "EUNOE_PROCESS__ADMIN", "9105", "EUNOE_PROCESS__ADMIN: '9105' is not HOST:PORT"),
        ("eunoe_search", "EUNOE_PROCESS__GRPC", "0.0.0.0:50053", "EUNOE_INTERNAL__SECRET is not set, and 0.0.0.0:50053 can be reached"),
        ("eunoe_search", "EUNOE_INTERNAL__EMBEDDER", "embedder:50052", "EUNOE_INTERNAL__SECRET is not set, and embedder:50052 can be"),
        ("eunoe_search", "EUNOE_INTERNAL__SECRET", "short", "at least 16 characters"),
    ],
)
def test_a_mistake_is_named_with_what_to_do(module: str, variable: str, value: str, said: str, tmp_path: Path) -> None:
    done = command(module, "--check", folder=tmp_path, **{variable: value})
    assert done.returncode == ExitCode.CONFIGURATION
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_role_fetch_says_that_there_is_nothing_to_do_yet(tmp_path: Path) -> None:
    done = command("eunoe_extractor", "--role", "fetch", folder=tmp_path)
    assert done.returncode == ExitCode.CONFIGURATION
    assert "not part of this version" in done.stderr


def test_a_store_that_does_not_answer_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    done = command(
        "eunoe_llm_extractor",
        folder=tmp_path,
        EUNOE_POSTGRES__PORT="9",
        EUNOE_POSTGRES__CONNECT_TIMEOUT_S="2",
        EUNOE_PROCESS__ADMIN="127.0.0.1:0",
        EUNOE_PROCESS__LOG_FORMAT="json",
    )
    assert done.returncode == ExitCode.UNREACHABLE
    (line,) = [json.loads(each) for each in done.stderr.splitlines() if '"unreachable"' in each]
    assert line["reason"].startswith("the catalogue cannot be reached")
    assert "start the store" in line["advice"]
