"""The fp32 weights of the model, by the names they have in its safetensors file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from eunoe_contracts.errors import ModelMissing
from numpy.typing import NDArray

from eunoe_models.embedding.minilm.shape import HIDDEN, POSITIONS, VOCABULARY

Floats = NDArray[np.float32]

_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN),
    "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
    "embeddings.token_type_embeddings.weight": (2, HIDDEN),
}


class Weights:
    """Named arrays of one safetensors file. Raises `ModelMissing` when the file is not this model."""

    def __init__(self, path: Path) -> None:
        from safetensors.numpy import load_file  # lazy: only the build needs it

        self._arrays: dict[str, Floats] = load_file(path)
        for name, shape in _EMBEDDINGS.items():
            if name not in self._arrays or self._arrays[name].shape != shape:
                raise ModelMissing(f"{path.name} does not hold the weights of all-MiniLM-L6-v2 ({name})")

    def array(self, name: str) -> Floats:
        """One array as it is stored."""
        return self._arrays[name]

    def dense(self, layer: int, name: str) -> tuple[Floats, Floats]:
        """Matrix (inputs, outputs) and bias of a dense layer; PyTorch stores (outputs, inputs)."""
        prefix = f"encoder.layer.{layer}.{name}"
        return self.array(f"{prefix}.weight").T, self.array(f"{prefix}.bias")

    def query_key_value(self, layer: int) -> tuple[Floats, Floats]:
        """The three projections of self-attention side by side, as the fused operator wants them."""
        parts = [self.dense(layer, f"attention.self.{name}") for name in ("query", "key", "value")]
        return np.concatenate([matrix for matrix, _ in parts], axis=1), np.concatenate([bias for _, bias in parts])

    def norm(self, prefix: str) -> tuple[Floats, Floats]:
        """Scale and shift of a layer normalisation."""
        return self.array(f"{prefix}.LayerNorm.weight"), self.array(f"{prefix}.LayerNorm.bias")

    def positions(self) -> Floats:
        """Position embeddings with the embedding of segment 0 added: there is never a second segment."""
        segment = self.array("embeddings.token_type_embeddings.weight")[0]
        return np.asarray(self.array("embeddings.position_embeddings.weight") + segment, np.float32)
