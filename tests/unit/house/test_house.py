"""The rules of the house that no linter knows."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SERVICES = ("gateway", "extractor", "embedder", "llm-extractor", "graph", "search")
FORBIDDEN_NAMES = {"common", "utils", "util", "helpers", "helper", "core", "misc", "shared", "base"}
HARD_LIMIT, MEDIAN_LIMIT = 400, 120
EXCEPTIONS: dict[str, str] = {}
"""Files over the limit: path -> reason and date."""


def sources() -> list[Path]:
    """Python files of the product, generated code aside."""
    found = []
    for top in ("libs", "services", "standalone"):
        found += [each for each in (ROOT / top).rglob("*.py") if "contracts/eunoe/v1" not in each.as_posix()]
    return found


def test_files_are_small() -> None:
    lines = {each.relative_to(ROOT).as_posix(): len(each.read_text(encoding="utf-8").splitlines()) for each in sources()}
    too_long = {name: count for name, count in lines.items() if count > HARD_LIMIT and name not in EXCEPTIONS}
    assert not too_long
    assert statistics.median(lines.values()) < MEDIAN_LIMIT


def test_no_room_without_a_meaning() -> None:
    names = {part for each in sources() for part in (*each.relative_to(ROOT).parts[:-1], each.stem)}
    assert not names & FORBIDDEN_NAMES


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_the_same_files(service: str) -> None:
    folder = ROOT / "services" / service
    package = folder / f"eunoe_{service.replace('-', '_')}"
    expected = [folder / name for name in ("README.md", "pyproject.toml", "Dockerfile")]
    expected += [package / name for name in ("__init__.py", "config.py", "service.py", "wiring.py", "main.py")]
    assert [each.relative_to(ROOT).as_posix() for each in expected if not each.is_file()] == []


def test_broker_clients_stay_in_their_package() -> None:
    allowed = ROOT / "libs" / "stream" / "eunoe_stream" / "kafka"
    offenders = [
        each.relative_to(ROOT).as_posix()
        for each in sources()
        if not each.is_relative_to(allowed)
        and any(
            line.startswith(("import faststream", "from faststream", "import aiokafka", "from aiokafka"))
            for line in each.read_text(encoding="utf-8").splitlines()
        )
    ]
    assert offenders == []


def test_pure_modules_have_no_clock_environment_or_random_ids() -> None:
    words = ("os.environ", "datetime.now", "time.time(", "uuid4(", "random.", "utcnow")
    offenders = []
    for service in SERVICES:
        path = ROOT / "services" / service / f"eunoe_{service.replace('-', '_')}" / "service.py"
        offenders += [f"{service}: {word}" for word in words if word in path.read_text(encoding="utf-8")]
    assert offenders == []


def test_namespace_package_stays_open() -> None:
    assert not (ROOT / "libs" / "contracts" / "eunoe" / "__init__.py").exists()


@pytest.mark.timeout(120)
def test_generated_code_is_current() -> None:
    done = subprocess.run([sys.executable, "tools/gen_protos.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
