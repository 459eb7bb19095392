"""What can be said of a model folder without torch: enough for processes that embed nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import ModelMissing

from eunoe_models.embedding.port import Calibration, ModelProfile, Role
from eunoe_models.embedding.sentence_folder.identity import digest_of
from eunoe_models.embedding.sentence_folder.layout import (
    CONFIG_FILE,
    DENSE,
    LENGTH_FILES,
    POOLING,
    PROMPTS_FILE,
    TOKENISER_FILE,
    TOKENISER_SETTINGS_FILE,
    Module,
    modules_of,
    settings_of,
)
from eunoe_models.embedding.sentence_folder.tokens import FolderTokens

POSITIONS_FROM_PADDING = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer", "roberta-prelayernorm"})
"""Their positions begin behind that of the padding, so two rows of the table are never a token's."""
WIDTHS = ("hidden_size", "d_model", "dim")
POOLED = ("embedding_dimension", "word_embedding_dimension")
PASSAGE_PROMPTS = ("document", "passage", "corpus")
SHORTEST = 16
"""Tokens of text; less is a mistake in the settings of the model."""


@dataclass(frozen=True, slots=True)
class FolderDescription:
    """`max_length` counts the special tokens and the prompt, `profile.window` neither."""

    folder: Path
    profile: ModelProfile
    max_length: int
    prompts: Mapping[Role, str]
    tokens: FolderTokens


def described(folder: Path, calibration: Calibration) -> FolderDescription:
    """Read the folder. Raises `ModelMissing`, saying what to do, for one that is not a whole model."""
    modules = modules_of(folder)
    first = modules[0].folder
    config = settings_of(first / CONFIG_FILE)
    kind = str(config.get("model_type", "model"))
    lengths = next((settings_of(first / name) for name in LENGTH_FILES if (first / name).is_file()), {})
    length = _max_length(config, kind, lengths, settings_of(first / TOKENISER_SETTINGS_FILE))
    prompts = _prompts(settings_of(folder / PROMPTS_FILE))
    tokens = FolderTokens(
        first / TOKENISER_FILE, max_length=length, prompts=prompts.values(), lower_case=bool(lengths.get("do_lower_case", False))
    )
    if tokens.window < SHORTEST:
        raise ModelMissing(f"the model in {folder} takes {tokens.window} tokens of a text; see max_seq_length in {LENGTH_FILES[0]}")
    dimensions = _dimensions(folder, modules, config)
    # Not the name of the folder: the same model is mounted under other names elsewhere.
    model_id = f"st-{kind}-{dimensions}-{digest_of(folder, modules)}"
    return FolderDescription(folder, ModelProfile(model_id, dimensions, tokens.window, calibration), length, prompts, tokens)


def _dimensions(folder: Path, modules: Sequence[Module], config: Mapping[str, Any]) -> int:
    """Width of the vectors: of the last module that sets one."""
    inner = config.get("text_config", {})
    width = _number(config, WIDTHS) or _number(inner if isinstance(inner, dict) else {}, WIDTHS)
    for module in modules:
        settings = settings_of(module.folder / CONFIG_FILE)
        if module.kind == POOLING:
            width = (_number(settings, POOLED) or width) * _pooling_modes(settings)
        elif module.kind == DENSE and settings.get("module_output_name", "sentence_embedding") == "sentence_embedding":
            width = _number(settings, ("out_features",))
    if width <= 0:
        raise ModelMissing(f"{folder} does not say how wide its vectors are; copy the whole folder")
    return width


def _pooling_modes(settings: Mapping[str, Any]) -> int:
    """The vectors of several ways of pooling stand one behind the other."""
    modes = settings.get("pooling_mode", ())
    if modes:
        return 1 if isinstance(modes, str) else len(modes)
    return sum(value is True for name, value in settings.items() if name.startswith("pooling_mode_")) or 1


def _max_length(config: Mapping[str, Any], kind: str, lengths: Mapping[str, Any], tokeniser: Mapping[str, Any]) -> int:
    """Longest text with all that is added to it. The library cuts there without a word, and fails above the table of positions."""
    inner = config.get("text_config", {})
    table = _number(config, ("max_position_embeddings",)) or _number(inner if isinstance(inner, dict) else {}, ("max_position_embeddings",))
    wanted = _number(lengths, ("max_seq_length",)) or _number(tokeniser, ("model_max_length",)) or table
    positions = table - 2 if kind in POSITIONS_FROM_PADDING else table
    found = min(wanted, positions) if positions > 0 else wanted
    if found <= 0:
        raise ModelMissing(f"the model does not say how long its texts may be; set max_seq_length in its {LENGTH_FILES[0]}")
    return found


def _prompts(settings: Mapping[str, Any]) -> Mapping[Role, str]:
    """What the model was trained to see before a query and before a passage."""
    named = settings.get("prompts")
    known = {name: text for name, text in named.items() if isinstance(text, str)} if isinstance(named, dict) else {}
    # The library itself looks under "document" only, since it always has that one, if empty.
    passage = next((known[name] for name in PASSAGE_PROMPTS if known.get(name)), "")
    return {Role.QUERY: known.get("query", ""), Role.PASSAGE: passage}


def _number(settings: Mapping[str, Any], names: Sequence[str]) -> int:
    """The first of these that is a whole number above zero; else 0. A tokenizer without a limit names 1e30."""
    found = (settings.get(name) for name in names)
    return next((int(each) for each in found if isinstance(each, int) and not isinstance(each, bool) and 0 < each < 1 << 31), 0)
