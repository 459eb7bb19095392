"""Symmetric int8 quantisation of weight matrices, one scale per channel.

Activations are quantised at run time to uint8 (dynamic quantisation, onnxruntime's `DynamicQuantizeMatMul`). Weights use 7
of the 8 bits: CPUs without VNNI add two uint8 x int8 products in a saturating 16-bit register, which 8-bit weights overflow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVELS = 64
TINY = 1e-12


class Quantised(NamedTuple):
    """value = data * scale, with the scale broadcast along the channel axis."""

    data: NDArray[np.int8]
    scale: NDArray[np.float32]


def quantised(matrix: NDArray[np.float32], *, axis: int, levels: int = LEVELS) -> Quantised:
    """One scale per index of `axis` (1: output columns of a dense layer; 0: rows of a table)."""
    largest = np.abs(matrix).max(axis=1 - axis, keepdims=True)
    scale = np.maximum(largest, TINY) / levels
    data = np.clip(np.rint(matrix / scale), -levels, levels).astype(np.int8)
    return Quantised(data, scale.reshape(-1).astype(np.float32))
