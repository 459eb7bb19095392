"""Weights folder in, model folder out."""

from __future__ import annotations

import shutil
from pathlib import Path

from eunoe_models.embedding.minilm.weights import Weights

BUILDER_VERSION = "1"
"""Raise it when the graph's bytes change; raise the profile's model id too when its vectors change."""


def build_model(weights: Path, target: Path) -> None:
    """Write `model.onnx` and `tokenizer.json` into an existing folder; a second or two, about 250 MB of memory."""
    from eunoe_models.embedding.minilm.graph import GraphBuilder  # lazy: onnx is needed for the build only

    graph = GraphBuilder(Weights(weights / "model.safetensors")).build()
    (target / "model.onnx").write_bytes(graph.SerializeToString())
    shutil.copyfile(weights / "tokenizer.json", target / "tokenizer.json")
