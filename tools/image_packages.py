"""Which third-party packages each image needs: the names, computed from what the members and the installed packages say they require.

Writes `deploy/images/<image>.txt`. Versions and hashes stand in requirements.lock alone, from which a Dockerfile takes the named ones.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deploy" / "images"
PLATFORMS = tuple(
    {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": "3.13.0",
        "python_version": "3.13",
        "sys_platform": "linux",
    }
    for machine in ("x86_64", "aarch64")
)
"""What the images run on. A requirement counts that any of these has."""
BUILD = "hatchling"
"""Makes wheels of the members, in the first stage of each image."""
COMMAND = "eunoe[cluster]"
"""The image of the command line, which holds everything."""


def members() -> Mapping[str, Path]:
    """Distribution name -> folder of each workspace member."""
    found = [*(ROOT / "libs").iterdir(), *(ROOT / "services").iterdir(), ROOT / "standalone"]
    return {_project(each)["name"]: each for each in found if (each / "pyproject.toml").is_file()}


def images() -> Mapping[str, str]:
    """Image -> the requirement that it is made for."""
    services = {each.parent.name: f"eunoe-{each.parent.name}" for each in (ROOT / "services").glob("*/pyproject.toml")}
    return {"build": BUILD, "eunoe": COMMAND, **services}


def closure(requirement: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the third-party packages and of the workspace members that a requirement brings, itself included."""
    own = members()
    done: set[tuple[str, str]] = set()
    todo = [Requirement(requirement)]
    while todo:
        each = todo.pop()
        name = canonicalize_name(each.name)
        for extra in ("", *sorted(each.extras)):
            if (name, extra) not in done:
                done.add((name, extra))
                todo += _required(own, name, extra)
    names = {name for name, _ in done}
    return frozenset(names - set(own)), frozenset(names & set(own))


def text(image: str) -> str:
    """The file of an image."""
    return "".join(f"{name}\n" for name in sorted(closure(images()[image])[0]))


def _required(own: Mapping[str, Path], name: str, extra: str) -> Iterator[Requirement]:
    """What a package asks for with this extra, or without any, on one of the platforms."""
    if name == "eunoe":  # its own file names little: a hook of its build adds what the others need
        yield from map(Requirement, (*own, *_project(own[name])["dependencies"]) if not extra else ())
        return
    if name in own:
        project = _project(own[name])
        wanted = project.get("optional-dependencies", {}).get(extra, []) if extra else project.get("dependencies", [])
        yield from map(Requirement, wanted)
        return
    for each in map(Requirement, requires(name) or ()):
        holds = [each.marker is None or each.marker.evaluate({**platform, "extra": extra}) for platform in PLATFORMS]
        bare = [each.marker is None or each.marker.evaluate({**platform, "extra": ""}) for platform in PLATFORMS]
        if any(holds) and not (extra and any(bare)):
            yield each


def _project(folder: Path) -> dict[str, object]:
    found = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    project: dict[str, object] = found["project"]
    if folder.name == "standalone":
        project["dependencies"] = found["tool"]["eunoe"]["dependencies"]
    return project


def main(arguments: list[str]) -> int:
    """Write the files; with `--check` say which are not current."""
    stale = [each for each in images() if not (FOLDER / f"{each}.txt").is_file() or (FOLDER / f"{each}.txt").read_text() != text(each)]
    if "--check" in arguments:
        for each in stale:
            print(f"deploy/images/{each}.txt is not current: run make image-packages")
        return 1 if stale else 0
    for each in stale:
        (FOLDER / f"{each}.txt").write_text(text(each), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
