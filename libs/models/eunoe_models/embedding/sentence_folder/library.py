"""The library: imported late, kept from the network, its device chosen by us, its failures in our words."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from eunoe_contracts.errors import ModelMissing
from numpy.typing import NDArray

from eunoe_models.embedding.sentence_folder.description import FolderDescription
from eunoe_models.embedding.session import default_threads

EXTRA = "sentence-transformers"
BEFORE_IMPORT = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",  # else tokenizers warn at every fork of the process
}
"""Read once, by the import."""
Dtype: TypeAlias = Literal["auto", "float32", "float16", "bfloat16"]


class Encoder(Protocol):
    """What is used of a SentenceTransformer."""

    max_seq_length: int

    def encode(
        self, sentences: list[str], *, batch_size: int, prompt: str, normalize_embeddings: bool, show_progress_bar: bool
    ) -> NDArray[Any]:
        """One row per text."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """A loaded model, where it computes, and what its full memory looks like; `free` gives back what the library keeps in reserve."""

    encoder: Encoder
    device: str
    out_of_memory: tuple[type[BaseException], ...]
    free: Callable[[], None]

    @property
    def is_gpu(self) -> bool:
        """The memory that counts is not the machine's."""
        return self.device != "cpu"


def opened(model: FolderDescription, *, device: str, dtype: Dtype, threads: int) -> Engine:
    """Load the model, five to ten seconds. Raises `ModelMissing`: library or device is not there, the model cannot be loaded."""
    os.environ.update(BEFORE_IMPORT)
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except (ImportError, OSError) as error:  # OSError: a CUDA library of torch is missing
        name = getattr(error, "name", None) or "sentence_transformers"
        raise ModelMissing(f"{name} cannot be imported; install eunoe[{EXTRA}], or eunoe-models[{EXTRA}]") from error
    where = _device(device, torch)
    numbers = ("float16" if where.startswith("cuda") else "float32") if dtype == "auto" else dtype
    if where == "cpu":
        torch.set_num_threads(threads or default_threads())
    try:
        encoder = SentenceTransformer(
            str(model.folder), device=where, local_files_only=True, trust_remote_code=False, model_kwargs={"dtype": numbers}
        )
        encoder.max_seq_length = model.max_length  # above the table of positions it would fail at the first long text
    except Exception as error:  # whatever the library raises for a folder that it does not like
        raise ModelMissing(
            f"the model in {model.folder} cannot be loaded on {where} ({type(error).__name__}); "
            "copy the folder again, or set EUNOE_MODELS__DEVICE"
        ) from error
    return Engine(encoder, where, (torch.OutOfMemoryError,), torch.cuda.empty_cache)


def _device(wanted: str, torch: Any) -> str:
    """Ours, since the library takes what it finds, and fails with a driver's words."""
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_mps = torch.backends.mps.is_available()
    if wanted == "auto":
        return "cuda" if cards else "mps" if has_mps else "cpu"
    number = int(wanted.partition(":")[2] or 0)
    if (wanted.startswith("cuda") and number >= cards) or (wanted == "mps" and not has_mps):
        raise ModelMissing(f"torch does not see the device {wanted}; install its driver, or set EUNOE_MODELS__DEVICE to cpu")
    return wanted
