"""Which files a list of paths, folders and globs means."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eunoe_contracts.errors import InvalidField

STDIN = "-"
IGNORED_NAMES = frozenset({"__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest. `custom_id` is its path below the given root, so that a changed file replaces its older version.

    `label` is how messages call it.
    """

    path: Path
    custom_id: str
    name: str
    label: str


def is_url(text: str) -> bool:
    """True for http and https addresses."""
    return text.startswith(("http://", "https://"))


def find_sources(arguments: Sequence[str]) -> Iterator[SourceFile]:
    """Files of the arguments in a stable order, each once. Raises `InvalidField` for a path that is no file or folder.

    Folders are walked without hidden entries and without following links to folders, so that a loop of links ends.
    Files of several arguments that would have the same `custom_id` get a longer one, so that none replaces another.
    """
    try:
        found = list(_found(arguments))
    except OSError as error:  # a folder that may not be read, a name that is too long
        raise InvalidField(f"{error.filename}: {error.strerror}") from error
    yield from _told_apart(found)


def _found(arguments: Sequence[str]) -> Iterator[SourceFile]:
    seen: set[Path] = set()
    for argument in arguments:
        matches = [argument] if Path(argument).exists() else sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - absolute patterns
        if not matches:
            raise InvalidField(f"{argument}: no such file or folder")
        for match in matches:
            path = Path(match)
            if not path.is_dir() and not path.is_file():
                raise InvalidField(f"{match}: not a file or folder; give the output of a command as `-` (standard input)")
            found = _walk(path, path) if path.is_dir() else [SourceFile(path, path.name, path.name, str(path))]
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
            yield SourceFile(entry, entry.relative_to(root).as_posix(), entry.name, str(entry))


def _told_apart(sources: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """`a/notes.md` and `b/notes.md` instead of twice `notes.md`; the whole path where even that is taken."""
    count = Counter(each.custom_id for each in sources)
    absolute = {each.path: each.path.absolute() for each in sources if count[each.custom_id] > 1}
    above = Path(os.path.commonpath([path.parent for path in absolute.values()])) if absolute else Path()
    for each in sources:
        if count[each.custom_id] == 1:
            yield each
            continue
        below = absolute[each.path].relative_to(above).as_posix()
        yield replace(each, custom_id=below if below not in count else absolute[each.path].as_posix())
