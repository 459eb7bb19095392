"""Which files a list of paths, folders and globs means."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eunoe_contracts.errors import InvalidField

STDIN = "-"
IGNORED_NAMES = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest. `custom_id` is its path below the given root, so that a changed file replaces its older version."""

    path: Path
    custom_id: str
    name: str


def is_url(text: str) -> bool:
    """True for http and https addresses."""
    return text.startswith(("http://", "https://"))


def find_sources(arguments: Sequence[str]) -> Iterator[SourceFile]:
    """Files of the arguments in a stable order, each once. Raises `InvalidField` for a path that does not exist.

    Folders are walked without hidden entries and without following links to folders, so that a loop of links ends.
    """
    seen: set[Path] = set()
    for argument in arguments:
        matches = [argument] if Path(argument).exists() else sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - absolute patterns
        if not matches:
            raise InvalidField(f"{argument}: no such file or folder")
        for match in matches:
            path = Path(match)
            found = _walk(path, path) if path.is_dir() else [SourceFile(path, path.name, path.name)]
            for each in found:
                real = each.path.absolute()
                if real not in seen:
                    seen.add(real)
                    yield each


def _walk(folder: Path, root: Path) -> Iterator[SourceFile]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name in IGNORED_NAMES:
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _walk(entry, root)
        elif entry.is_file():
            yield SourceFile(entry, entry.relative_to(root).as_posix(), entry.name)
