"""What is read from a sentence-transformers folder without torch, and which folders are refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eunoe_contracts.errors import ModelMissing
from eunoe_models.artifacts import load_counter, load_embedder, missing_model, profile_of, require_embedder
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import Calibration, Role
from eunoe_models.embedding.profiles import MINILM
from eunoe_models.embedding.sentence_folder import FolderDescription, described
from eunoe_models.embedding.sentence_folder.identity import END
from pydantic import ValidationError
from tokenizers import Tokenizer, models, pre_tokenizers

Make = Callable[..., Path]
CURVE = Calibration(0.5, 20.0)
POOLING = "sentence_transformers.models.Pooling"
TRANSFORMER = "sentence_transformers.models.Transformer"


def read(folder: Path) -> FolderDescription:
    return described(folder, CURVE)


def steps(*modules: tuple[str, str]) -> list[dict[str, str]]:
    return [{"type": kind, "path": path} for kind, path in modules]


def test_a_folder_says_what_its_model_is(model_folder: Make) -> None:
    found = read(model_folder())
    assert (found.profile.dimensions, found.profile.window, found.max_length) == (4, 62, 64)
    assert found.profile.model_id.startswith("st-bert-4-")
    assert found.profile.calibration == CURVE
    assert set(found.prompts.values()) == {""}
    counter = found.tokens.counter()
    assert (counter.window, counter.count("The cats sat"), found.tokens.size("The cats sat")) == (62, 4, 6)
    assert counter.count("the " * 500) == 500
    assert found.tokens.size("the " * 500) == 64
    assert counter.count("the \ud800 cat") == 3
    assert found.tokens.clipped("\ud800" * 10_000) == "?" * 64 * 64
    assert "torch" not in sys.modules


@pytest.mark.parametrize(
    ("kind", "wanted", "table", "length"),
    [("bert", 64, 100, 64), ("bert", 512, 100, 100), ("xlm-roberta", 512, 100, 98), ("mpnet", None, 100, 98), ("t5", 80, None, 80)],
)
def test_texts_end_before_the_table_of_positions(model_folder: Make, kind: str, wanted: int | None, table: int | None, length: int) -> None:
    config = {"model_type": kind, "d_model": 4, "max_position_embeddings": table}
    found = read(model_folder({"config.json": config, "sentence_bert_config.json": {"max_seq_length": wanted}}))
    assert (found.max_length, found.profile.window) == (length, length - 2)


def test_a_tokenizer_may_say_how_long_texts_are(model_folder: Make) -> None:
    files = {"sentence_bert_config.json": None, "tokenizer_config.json": {"model_max_length": 48}}
    assert read(model_folder(files)).max_length == 48
    assert read(model_folder({**files, "tokenizer_config.json": {"model_max_length": int(1e30)}})).max_length == 100


def test_prompts_take_their_tokens_from_the_window(model_folder: Make) -> None:
    prompts = {"query": "search query: ", "passage": "the: ", "other": "the " * 30}
    found = read(model_folder({"config_sentence_transformers.json": {"prompts": prompts}}))
    assert found.prompts == {Role.QUERY: "search query: ", Role.PASSAGE: "the: "}
    assert found.profile.window == 62 - 3


@pytest.mark.parametrize(
    ("pooling", "dense", "dimensions"),
    [
        ({"embedding_dimension": 4, "pooling_mode": "mean"}, None, 4),
        ({"embedding_dimension": 4, "pooling_mode": ["mean", "cls"]}, None, 8),
        ({"word_embedding_dimension": 4, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, None, 8),
        ({}, None, 4),
        ({}, {"in_features": 4, "out_features": 3}, 3),
    ],
)
def test_the_last_module_sets_the_width(model_folder: Make, pooling: dict[str, Any], dense: dict[str, Any] | None, dimensions: int) -> None:
    modules = steps((TRANSFORMER, ""), (POOLING, "1_Pooling"), *([("sentence_transformers.models.Dense", "2_Dense")] if dense else []))
    found = read(model_folder({"modules.json": modules, "1_Pooling/config.json": pooling, "2_Dense/config.json": dense}))
    assert found.profile.dimensions == dimensions


def test_the_transformer_may_lie_in_a_folder_of_its_own(model_folder: Make) -> None:
    names = ("config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors")
    whole = model_folder()
    (whole / "0_BERT").mkdir()
    for name in names:
        (whole / name).rename(whole / "0_BERT" / name)
    (whole / "modules.json").write_text(f'[{{"type": "{TRANSFORMER}", "path": "0_BERT"}}, {{"type": "{POOLING}", "path": "1_Pooling"}}]')
    assert read(whole).profile.dimensions == 4


def test_the_identity_is_that_of_the_content(model_folder: Make, tmp_path: Path) -> None:
    first = read(model_folder()).profile.model_id
    copied = (model_folder(name="elsewhere")).rename(tmp_path / "under another name")
    (copied / "README.md").write_text("not of the model")
    assert read(copied).profile.model_id == first
    weights = bytearray(3 * END)
    changes: list[dict[str, Any]] = [
        {"1_Pooling/config.json": {"word_embedding_dimension": 4, "pooling_mode_cls_token": True}},
        {"sentence_bert_config.json": {"max_seq_length": 32}},
        {"config_sentence_transformers.json": {"prompts": {"query": "the "}}},
        {"model.safetensors": bytes(weights)},
        {"model.safetensors": bytes(weights[:-1])},
        {"model.safetensors": bytes([1, *weights[1:]])},
        {"model.safetensors": bytes([*weights[:-1], 1])},
    ]
    seen = {read(model_folder(each, name=f"changed{number}")).profile.model_id for number, each in enumerate(changes)}
    assert len({first, *seen}) == 1 + len(changes)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"modules.json": None}, "modules.json"),
        ({"modules.json": "[oops"}, "cannot be read"),
        ({"modules.json": {}}, "not a list"),
        ({"modules.json": []}, "no modules"),
        ({"modules.json": steps((TRANSFORMER, ""))}, "pooling"),
        ({"modules.json": steps((TRANSFORMER, ""), ("custom_code.Head", ""))}, "custom_code.Head"),
        ({"modules.json": steps((TRANSFORMER, ""), ("sentence_transformers.models.LSTM", ""))}, "LSTM"),
        ({"modules.json": steps((TRANSFORMER, ""), (POOLING, "../../.."))}, "outside"),
        ({"tokenizer.json": None}, "tokenizer.json"),
        ({"tokenizer.json": "{}"}, "tokenizer"),
        ({"config.json": "[]"}, "not an object"),
        ({"config.json": {"max_position_embeddings": 100}, "1_Pooling/config.json": {}}, "how wide"),
        ({"config.json": {"hidden_size": 4}, "sentence_bert_config.json": {}}, "max_seq_length"),
        ({"sentence_bert_config.json": {"max_seq_length": 12}}, "takes 10 tokens"),
        ({"model.safetensors": None}, "no weights"),
    ],
)
def test_what_is_no_whole_model_is_refused(model_folder: Make, files: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelMissing) as caught:
        read(model_folder(files))
    assert said in caught.value.message


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="EUNOE_MODELS__FOLDER"):
        read(tmp_path / "nothing")


def test_a_space_that_a_token_begins_with_is_no_part_of_it(model_folder: Make) -> None:
    pieces = Tokenizer(models.Unigram([("<unk>", 0.0), ("\u2581the", -1.0), ("\u2581cat", -1.0), ("s", -2.0), ("\u2581", -3.0)], 0))
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    counter = read(model_folder(tokeniser=pieces)).tokens.counter()
    text = "the cats the cat"
    assert counter.window == 64
    assert text[: counter.cut(text, 3)] == "the cats"
    assert text[counter.cut_tail(text, 2) :] == "the cat"
    assert text[: counter.cut(text, 2)] == "the"


def test_an_old_model_may_ask_for_small_letters(model_folder: Make) -> None:
    given = tokeniser_cased()
    for lower_case, tokens in ((False, 1), (True, 2)):
        files = {"sentence_bert_config.json": {"max_seq_length": 64, "do_lower_case": lower_case}}
        counter = read(model_folder(files, tokeniser=given)).tokens.counter()
        assert counter.count("CATS") == tokens


def tokeniser_cased() -> Tokenizer:
    made = Tokenizer(models.WordPiece({"[UNK]": 0, "cat": 1, "##s": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def test_processes_that_embed_nothing_need_only_the_folder(model_folder: Make, tmp_path: Path) -> None:
    settings = ModelSettings(backend="sentence-transformers", folder=model_folder(), score_midpoint=0.5, score_slope=20)
    assert profile_of(settings) == read(model_folder()).profile
    counter = load_counter(settings)
    assert counter is not None
    assert counter.window == 62
    assert missing_model(settings) == ""
    gone = ModelSettings(backend="sentence-transformers", folder=tmp_path / "gone")
    assert "is not there" in missing_model(gone)
    for load in (profile_of, load_counter, require_embedder):
        with pytest.raises(ModelMissing, match="is not there"):
            load(gone)


@pytest.mark.parametrize("backend", ["onnx", "sentence-transformers"])
def test_search_by_words_only_is_chosen_with_any_backend(backend: str, tmp_path: Path) -> None:
    settings = ModelSettings(profile="none", backend=backend, dir=tmp_path)
    assert profile_of(settings) is load_counter(settings) is load_embedder(settings).model is None
    assert missing_model(settings) == ""


def test_settings_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="EUNOE_MODELS__FOLDER"):
        ModelSettings(backend="sentence-transformers")
    for device in ("gpu", "cuda:", "cuda:one", " cpu"):
        with pytest.raises(ValidationError, match="device"):
            ModelSettings(device=device)
    settings = ModelSettings()
    assert (settings.score_midpoint, settings.score_slope) == (MINILM.calibration.midpoint, MINILM.calibration.slope)
    assert profile_of(settings) is MINILM
