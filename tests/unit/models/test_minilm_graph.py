"""The fused int8 graph against an independent fp32 computation of the same BERT, on made-up and, where pulled, on the real weights."""

from __future__ import annotations

from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eunoe_contracts.errors import ModelMissing
from eunoe_models.artifacts.cache import is_ready, weights_dir
from eunoe_models.artifacts.table import ARTIFACTS
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.minilm.build import build_model
from eunoe_models.embedding.minilm.quantise import quantised
from eunoe_models.embedding.session import OnnxSession
from eunoe_models.embedding.wordpiece import WordPiece
from safetensors.numpy import load_file, save_file

LAYERS, HEADS, HIDDEN, WIDE, WORDS = 6, 12, 384, 1536, 30522
TEXTS = [
    "hello",
    "how do I reset my password",
    "Customers may send goods back within thirty days of delivery for a full refund.",
    "def cut(text: str, tokens: int) -> int:\n    return min(len(text), 4 * tokens)",
    "The directors voted seven to two to reject the takeover by Halden Group. " * 12,
    "| region | 2022 | 2023 |\n|---|---|---|\n| north | 1,284 | 1,402 |\n| south | 311 | 298 |",
]


def reference(weights: dict[str, Any], ids: list[int]) -> Any:
    """Plain BERT (Devlin et al. 2018) with mean pooling, written from the paper, in fp64."""
    get = {name: array.astype(np.float64) for name, array in weights.items() if array.dtype == np.float32}.__getitem__

    def norm(x: Any, prefix: str) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * get(f"{prefix}.LayerNorm.weight") + get(f"{prefix}.LayerNorm.bias")

    def dense(x: Any, prefix: str) -> Any:
        return x @ get(f"{prefix}.weight").T + get(f"{prefix}.bias")

    word = get("embeddings.word_embeddings.weight")[ids]
    place = get("embeddings.position_embeddings.weight")[: len(ids)]
    x = norm(word + place + get("embeddings.token_type_embeddings.weight")[0], "embeddings")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        heads = [
            dense(x, f"{at}.attention.self.{part}").reshape(len(ids), HEADS, HIDDEN // HEADS).swapaxes(0, 1)
            for part in ("query", "key", "value")
        ]
        weight = np.exp(heads[0] @ heads[1].swapaxes(1, 2) / np.sqrt(HIDDEN // HEADS))
        mixed = (weight / weight.sum(-1, keepdims=True) @ heads[2]).swapaxes(0, 1).reshape(len(ids), HIDDEN)
        x = norm(x + dense(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output")
        wide = dense(x, f"{at}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(erf)(wide / np.sqrt(2)))
        x = norm(x + dense(wide, f"{at}.output.dense"), f"{at}.output")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    random = np.random.default_rng(7)

    def matrix(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.05).astype(np.float32)

    def norm(prefix: str) -> dict[str, Any]:
        return {f"{prefix}.LayerNorm.weight": 1 + matrix(HIDDEN), f"{prefix}.LayerNorm.bias": matrix(HIDDEN)}

    weights = {
        "embeddings.word_embeddings.weight": matrix(WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": matrix(512, HIDDEN),
        "embeddings.token_type_embeddings.weight": matrix(2, HIDDEN),
        **norm("embeddings"),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        sizes = {f"{at}.attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
        sizes |= {f"{at}.attention.output.dense": (HIDDEN, HIDDEN), f"{at}.intermediate.dense": (WIDE, HIDDEN)}
        sizes |= {f"{at}.output.dense": (HIDDEN, WIDE)}
        for name, (rows, columns) in sizes.items():
            weights |= {f"{name}.weight": matrix(rows, columns), f"{name}.bias": matrix(rows)}
        weights |= norm(f"{at}.attention.output") | norm(f"{at}.output")
    save_file(weights, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_the_graph_computes_what_the_paper_says(made_up: Path, tmp_path: Path) -> None:
    build_model(made_up, tmp_path)
    assert (tmp_path / "tokenizer.json").read_text() == "{}"
    weights = load_file(made_up / "model.safetensors")
    random = np.random.default_rng(1)
    texts = [[101, *random.integers(1000, WORDS, length).tolist(), 102] for length in (1, 7, 30, 31, 120)]
    together = OnnxSession(tmp_path / "model.onnx", threads=1).vectors(texts)
    assert together.shape == (5, HIDDEN)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert float(reference(weights, text) @ vector) > 0.98


def test_the_real_weights_are_within_two_hundredths_of_fp32() -> None:
    settings = ModelSettings()
    folder = weights_dir(ARTIFACTS["minilm"], settings=settings)
    if not is_ready("minilm", settings=settings) or not (folder / "model.safetensors").exists():
        pytest.skip(f"the model is not in {settings.dir}; run `make models`")
    weights = load_file(folder / "model.safetensors")
    tokeniser = WordPiece(folder / "tokenizer.json", max_length=256)
    session = OnnxSession(settings.dir / "built" / "minilm-int8-fused-1" / "model.onnx", threads=1)
    for text in TEXTS:
        ids = tokeniser.ids(text)
        assert float(reference(weights, ids) @ session.vectors([ids])[0]) > 0.98, text[:20]


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    save_file({"embeddings.word_embeddings.weight": np.zeros((5, 5), np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(ModelMissing, match="MiniLM"):
        build_model(tmp_path, tmp_path)


def test_a_damaged_graph_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelMissing, match="models build"):
        OnnxSession(tmp_path / "model.onnx", threads=1)


@pytest.mark.parametrize("axis", [0, 1])
def test_quantised_weights_keep_seven_bits_per_channel(axis: int) -> None:
    matrix = np.random.default_rng(3).standard_normal((20, 30)).astype(np.float32)
    matrix[:, 3] *= 100
    data, scale = quantised(matrix, axis=axis)
    assert data.dtype == np.int8
    assert int(np.abs(data).max()) == 64
    back = data * (scale[:, None] if axis == 0 else scale[None])
    assert float(np.abs(back - matrix).max(axis=1 - axis).max() / scale.max()) <= 0.51
