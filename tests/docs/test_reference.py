"""The reference tells everything that the code has. Names are gathered here anew, so that a fault of the generator shows."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import typer
from eunoe_contracts import topics
from eunoe_contracts.errors import EunoeError, error_types
from eunoe_search.filters import KNOWN
from eunoe_standalone.cli.app import app
from eunoe_standalone.settings_catalogue import all_settings
from eunoe_telemetry.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def named(text: str) -> set[str]:
    """What stands in code marks."""
    return set(re.findall(r"`([^`\n]+)`", text))


def test_the_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, "tools/gen_reference.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_setting_is_there_with_a_meaning() -> None:
    settings = list(all_settings())
    assert len(settings) > 30
    assert {name for each in settings for name in (each.variable, *each.aliases)} <= named(page("settings.md"))
    assert [each.variable for each in settings if not each.description] == []


def test_no_setting_is_named_twice() -> None:
    names = [name for each in all_settings() for name in (each.variable, *each.aliases)]
    assert sorted(names) == sorted(set(names))


def test_every_error_code_is_there() -> None:
    classes = [each for each in error_types() if each is not EunoeError]
    codes = [each.code for each in classes]
    assert set(codes) <= named(page("errors.md"))
    assert len(codes) == len(set(codes))
    assert [each.code for each in classes if not each.default_message().endswith(".")] == []


def test_every_metric_is_there() -> None:
    assert {f"eunoe_{each.name}" for each in METRICS} <= named(page("metrics.md"))


def test_every_topic_is_there() -> None:
    assert set(topics.ALL) <= named(page("topics.md"))


def commands() -> dict[str, Any]:
    """Every command by its full name."""
    found: dict[str, Any] = {}

    def gather(command: Any, name: str) -> None:
        found[name] = command
        for child, below in getattr(command, "commands", {}).items():
            gather(below, f"{name} {child}")

    gather(typer.main.get_command(app), "eunoe")
    return found


def test_every_command_and_option_is_there_with_a_meaning() -> None:
    sections = dict(re.findall(r"^## `([^`]+)`\n(.*?)(?=^## |\Z)", page("commands.md"), re.MULTILINE | re.DOTALL))
    for name, command in commands().items():
        assert name in sections
        assert command.help, name
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in named(sections[name]), (name, option)


def test_readmes_command_table_names_commands_that_exist() -> None:
    known = set(commands())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"`eunoe ([a-z-]+)", readme):
        assert f"eunoe {command}" in known, command


def test_every_filter_is_there() -> None:
    assert set(KNOWN) <= named(page("search-filters.md"))


def requirements() -> dict[str, str]:
    """Third-party run-time requirements of every member -> a member that has it."""
    found: dict[str, str] = {}
    for path in [*ROOT.glob("libs/*/pyproject.toml"), *ROOT.glob("services/*/pyproject.toml"), ROOT / "standalone" / "pyproject.toml"]:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
        project = whole["project"]
        own = whole.get("tool", {}).get("eunoe", {}).get("dependencies", ())
        lines = [
            *project.get("dependencies", ()),
            *own,
            *(each for some in project.get("optional-dependencies", {}).values() for each in some),
        ]
        for line in lines:
            match = REQUIREMENT.match(line)
            assert match is not None, line
            name = re.sub(r"[-_.]+", "-", match.group()).lower()
            if name != "eunoe" and not name.startswith("eunoe-"):
                found[name] = path.parent.name
    return found


def test_every_dependency_has_its_reason() -> None:
    listed = {
        name.strip().lower()
        for line in page("dependencies.md").splitlines()
        if line.startswith("| ")
        for name in line.split("|")[1].split(",")
    }
    missing = {name: member for name, member in requirements().items() if name not in listed}
    assert missing == {}


def test_no_reason_without_its_dependency() -> None:
    table = page("dependencies.md").partition("Model weights")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| package")]
    listed = {name.strip().lower() for line in rows for name in line.split("|")[1].split(",")}
    assert listed - requirements().keys() == set()


def test_pages_link_to_files_that_exist() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("services/*/README.md"), ROOT / "standalone" / "README.md"]
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists()
    ]
    assert broken == []
