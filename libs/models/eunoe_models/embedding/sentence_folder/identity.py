"""What tells one model folder from another."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from eunoe_contracts.errors import ModelMissing

from eunoe_models.embedding.sentence_folder.layout import (
    CONFIG_FILE,
    LENGTH_FILES,
    MODULES_FILE,
    PROMPTS_FILE,
    TOKENISER_FILE,
    TOKENISER_SETTINGS_FILE,
    Module,
)

SETTINGS = (CONFIG_FILE, *LENGTH_FILES, TOKENISER_FILE, TOKENISER_SETTINGS_FILE)
END = 1 << 20
"""Bytes of each end of a weights file that are read. All of them would be gigabytes at every start of every process; the ends hold the
header with names and shapes, and numbers that any training changes."""


def digest_of(folder: Path, modules: Sequence[Module]) -> str:
    """Eight hex digits over the settings, the tokenizer, and the ends and sizes of the weights. The place, the name and the times of the
    folder do not count, nor do files that the model does not need. Raises `ModelMissing` without weights.
    """
    digest = hashlib.sha256()
    if not modules[0].weights:
        raise ModelMissing(f"{folder} has no weights (*.safetensors); copy the whole folder")
    try:
        for name in (MODULES_FILE, PROMPTS_FILE):
            _add(digest, name, folder / name)
        for number, module in enumerate(modules):
            for name in SETTINGS:
                _add(digest, f"{number}/{name}", module.folder / name)
            for path in module.weights:
                size = path.stat().st_size
                digest.update(f"{number}/{path.name}:{size}\n".encode())
                with path.open("rb") as file:
                    digest.update(file.read(END))
                    file.seek(max(0, size - END))
                    digest.update(file.read(END))
    except OSError as error:
        raise ModelMissing(f"the model in {folder} cannot be read ({error.strerror}); let this process read it") from error
    return digest.hexdigest()[:8]


def _add(digest: hashlib._Hash, name: str, path: Path) -> None:
    if path.is_file():
        content = path.read_bytes()
        digest.update(f"{name}:{len(content)}\n".encode())
        digest.update(content)
