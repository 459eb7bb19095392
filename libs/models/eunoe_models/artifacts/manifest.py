"""The note beside files in the cache that says what they are; a folder without it does not count."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

MANIFEST_FILE = "manifest.json"
CHUNK = 1 << 20


def read_manifest(folder: Path) -> Mapping[str, str]:
    """Names and values; empty when there is none or it cannot be read."""
    try:
        content = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in content.items()} if isinstance(content, dict) else {}


@contextmanager
def new_folder(folder: Path, manifest: dict[str, str]) -> Iterator[Path]:
    """A temporary folder that takes the place of `folder` with the manifest (as it is at the end) when the block succeeds."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f"{folder.name}.{uuid4().hex}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        (temporary / MANIFEST_FILE).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        _sync(temporary)
        shutil.rmtree(folder, ignore_errors=True)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _sync(folder: Path) -> None:
    """To disk before the rename: after a power cut a manifest must not stand beside half a model."""
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
