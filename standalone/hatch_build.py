"""Build hooks of the distribution: one wheel that holds every workspace member and needs only third-party packages."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

CLUSTER = ("postgres", "s3", "weaviate", "neo4j", "kafka")
"""Extras of the members that the distributed mode needs; together they are the extra `cluster`."""
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
    """Unions the third-party dependencies of all members, and their extras."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `dependencies` and `optional-dependencies`."""
        found = set(project_of(Path(self.root))["tool"]["eunoe"]["dependencies"])
        extras: dict[str, set[str]] = {}
        for folder in members(Path(self.root)):
            project = project_of(folder)["project"]
            found |= third_party(project.get("dependencies", []))
            for name, needed in project.get("optional-dependencies", {}).items():
                extras.setdefault(name, set()).update(third_party(needed))
        extras["cluster"] = set().union(*(extras.get(name, set()) for name in CLUSTER))
        metadata["dependencies"] = sorted(found)
        metadata["optional-dependencies"] = {name: sorted(needed) for name, needed in sorted(extras.items())}


class PackageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter to plugins
    """Puts the packages of all members into the wheel; an editable install finds them by their own installs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the forced files."""
        if version == "editable":
            return
        for folder in members(Path(self.root)):
            for package in project_of(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
                build_data["force_include"][str(folder / package)] = package
