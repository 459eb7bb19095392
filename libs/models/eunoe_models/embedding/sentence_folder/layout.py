"""Which files of a sentence-transformers folder make the model, and which folders are none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import ModelMissing

MODULES_FILE = "modules.json"
PROMPTS_FILE = "config_sentence_transformers.json"
CONFIG_FILE = "config.json"
TOKENISER_FILE = "tokenizer.json"
TOKENISER_SETTINGS_FILE = "tokenizer_config.json"
LENGTH_FILES = tuple(
    f"sentence_{name}_config.json" for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
OWN = "sentence_transformers."
"""Modules of other packages would be code from the folder, which is never run."""
TRANSFORMER, POOLING, DENSE = "Transformer", "Pooling", "Dense"
KNOWN = frozenset({TRANSFORMER, POOLING, DENSE, "Normalize", "LayerNorm", "Dropout"})
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
"""The library takes the first kind that is there."""


@dataclass(frozen=True, slots=True)
class Module:
    """One step of the model: its class, and the folder with its settings and weights."""

    kind: str
    folder: Path

    @property
    def weights(self) -> Sequence[Path]:
        """Its weight files in the order of their names."""
        return next((found for pattern in WEIGHTS if (found := sorted(self.folder.glob(pattern)))), [])


def modules_of(folder: Path) -> Sequence[Module]:
    """The steps of the model in a folder. Raises `ModelMissing` for a folder that is none, or holds what is not known here."""
    if not folder.is_dir():
        raise ModelMissing(f"the folder {folder} is not there; set EUNOE_MODELS__FOLDER to the folder of a sentence-transformers model")
    if not (folder / MODULES_FILE).is_file():
        raise ModelMissing(
            f"{folder} has no {MODULES_FILE}, so nothing says how its vectors are made; "
            "save the model with SentenceTransformer.save, or copy the whole folder"
        )
    steps = json_of(folder / MODULES_FILE)
    if not isinstance(steps, list) or not all(isinstance(each, dict) for each in steps):
        raise ModelMissing(f"{MODULES_FILE} of {folder} is not a list of modules")
    modules = [_module(folder, str(each.get("type", "")), str(each.get("path", ""))) for each in steps]
    kinds = [each.kind for each in modules]
    if kinds[:1] != [TRANSFORMER] or POOLING not in kinds:
        raise ModelMissing(f"{folder} is not a transformer with pooling ({', '.join(kinds) or 'no modules'}); take another model")
    if not (modules[0].folder / TOKENISER_FILE).is_file():
        raise ModelMissing(
            f"{folder} has no {TOKENISER_FILE}, by which texts are cut and counted; save the model again with its fast tokenizer"
        )
    return modules


def settings_of(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file; empty when there is no such file. Raises `ModelMissing`."""
    found = json_of(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise ModelMissing(f"{path} is not an object; copy the model's folder again")
    return found


def json_of(path: Path) -> Any:
    """What a JSON file holds. Raises `ModelMissing`."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelMissing(f"{path} cannot be read ({type(error).__name__}); copy the model's folder again") from error


def _module(folder: Path, kind: str, path: str) -> Module:
    name = kind.rpartition(".")[2]
    if not kind.startswith(OWN) or name not in KNOWN:
        known = ", ".join(sorted(KNOWN))
        raise ModelMissing(f"{folder} has a module {kind or 'without a type'}, which is not one of {known}; take another model")
    place = (folder / path).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise ModelMissing(f"{MODULES_FILE} of {folder} names a module outside of the folder")
    return Module(name, place)
