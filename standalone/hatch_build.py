"""Build hooks of the distribution: one wheel that holds every workspace member and needs only third-party packages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

MEMBER = re.compile(r"eunoe(-[a-z-]+)?\Z")


def members(standalone: Path) -> list[Path]:
    """Folders of the other workspace members, in a stable order."""
    return sorted(each.parent for parent in ("libs", "services") for each in (standalone.parent / parent).glob("*/pyproject.toml"))


def project_of(folder: Path) -> dict[str, Any]:
    """The parsed pyproject.toml of a member."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def third_party(requirements: list[str]) -> set[str]:
    """Requirements that are not members of this workspace."""
    return {each for each in requirements if not MEMBER.match(re.split(r"[\s\[<>=!~;]", each, maxsplit=1)[0])}


class DependencyHook(MetadataHookInterface):
    """Unions the third-party dependencies of all members."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `dependencies`."""
        found = set(project_of(Path(self.root))["tool"]["eunoe"]["dependencies"])
        for folder in members(Path(self.root)):
            found |= third_party(project_of(folder)["project"].get("dependencies", []))
        metadata["dependencies"] = sorted(found)


class PackageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter to plugins
    """Puts the packages of all members into the wheel; an editable install finds them by their own installs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the forced files."""
        if version == "editable":
            return
        for folder in members(Path(self.root)):
            for package in project_of(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
                build_data["force_include"][str(folder / package)] = package
