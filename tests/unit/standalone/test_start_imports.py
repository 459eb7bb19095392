"""What must not be imported at start, since it would make every command or every server slower."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from eunoe_standalone.default_directory import configured_data_dir, default_data_dir


def loaded_by(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split())


def test_a_command_against_a_server_loads_no_pipeline() -> None:
    loaded = loaded_by("import eunoe_standalone.cli.app")
    assert not loaded & {"pydantic", "sqlalchemy", "numpy", "fastapi", "onnxruntime", "eunoe_gateway.service", "httpx"}


def test_the_analyser_loads_one_language_and_that_late() -> None:
    assert not any("stemmer" in name for name in loaded_by("import eunoe_stores.analyser"))
    used = loaded_by("from eunoe_stores.analyser import analyse; analyse('running')")
    assert [name for name in used if name.endswith("_stemmer")] == ["_eunoe_snowball.english_stemmer"]


def test_the_data_directory_comes_from_environment_then_dotenv_then_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("EUNOE_SERVER__DATA_DIR", raising=False)
    assert configured_data_dir() == default_data_dir() == tmp_path / "share" / "eunoe"
    (tmp_path / ".env").write_text("EUNOE_SERVER__DATA_DIR=/from/dotenv\n", encoding="utf-8")
    assert configured_data_dir() == Path("/from/dotenv")
    monkeypatch.setenv("eunoe_server__data_dir", "/from/environment")
    assert configured_data_dir() == Path("/from/environment")
