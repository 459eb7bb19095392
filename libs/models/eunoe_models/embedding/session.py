"""An onnxruntime session of a fused graph: token ids in, unit vectors out. Blocking."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from eunoe_contracts.errors import ModelMissing

from eunoe_models.embedding.port import Vectors

MOST_DEFAULT_THREADS = 4


def default_threads() -> int:
    """Half of the cores this process may use, 1 to 4: the others parse, index and answer meanwhile (bench/embedder_rate.py)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_DEFAULT_THREADS, cores // 2))


class OnnxSession:
    """One graph with the inputs `ids` and `lengths` and the output `vectors`. Raises `ModelMissing` when it cannot be loaded."""

    def __init__(self, path: Path, *, threads: int = 0) -> None:
        import onnxruntime  # lazy: half of a second that BM25-only processes never need

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or default_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Spinning threads burn the cores that parsers and stores share with the model.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelMissing(f"the model file {path.name} cannot be loaded ({type(error).__name__}); run `eunoe models build`") from error

    def vectors(self, texts: Sequence[list[int]]) -> Vectors:
        """Shape (texts, dimensions). Padding is on the right and is not attended to."""
        lengths = np.array([len(ids) for ids in texts], np.int32)
        ids = np.zeros((len(texts), int(lengths.max())), np.int64)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text)] = text
        result: Vectors = self._session.run(["vectors"], {"ids": ids, "lengths": lengths})[0]
        return result
