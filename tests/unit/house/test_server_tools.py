"""Programs that the test servers need: found, installed where we may, or named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from servers.failure import ServerFailure
from servers.installed import tool


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def test_a_program_that_is_there_is_not_installed(programs: Path) -> None:
    script(programs / "java", "")
    assert tool("java", "default-jre-headless") == str(programs / "java")


def test_root_installs_what_is_missing(programs: Path) -> None:
    asked = programs / "asked"
    script(
        programs / "apt-get",
        f'echo "$@" >> {asked}\n[ "$1" = update ] || {{ echo "#!/bin/sh" > {programs}/java; /bin/chmod 755 {programs}/java; }}',
    )
    assert tool("java", "default-jre-headless") == str(programs / "java")
    assert [line.split()[0] for line in asked.read_text(encoding="utf-8").splitlines()] == ["update", "install"]
    assert asked.read_text(encoding="utf-8").split()[-1] == "default-jre-headless"


def test_others_are_told_what_to_install(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(programs / "apt-get", "exit 1")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ServerFailure, match="apt-get install maven"):
        tool("mvn", "maven")


def test_a_failed_installation_says_so(programs: Path) -> None:
    script(programs / "apt-get", "echo no such package; exit 100")
    with pytest.raises(ServerFailure, match="no such package"):
        tool("mvn", "maven")
