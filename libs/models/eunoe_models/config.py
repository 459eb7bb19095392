"""Settings of the models, section MODELS."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_dir() -> Path:
    """`eunoe/models` in the user's cache: XDG_CACHE_HOME, else `~/.cache` (XDG base directory specification)."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache") / "eunoe" / "models"


class ModelSettings(BaseSettings):
    """`EUNOE_MODELS__*`."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_MODELS__", env_file=".env", frozen=True, extra="ignore")

    profile: Literal["minilm", "none"] = Field(
        default="minilm", description="Embedding model; `none` searches by words only, whatever the backend."
    )
    backend: Literal["onnx", "sentence-transformers"] = Field(
        default="onnx",
        description="What computes: our graph of the profile, on the CPU, or sentence-transformers the model in a folder.",
    )
    folder: Path | None = Field(default=None, description="Folder of the model of sentence-transformers; nothing is downloaded.")
    device: str = Field(
        default="auto",
        pattern=r"^(auto|cpu|mps|cuda(:\d{1,2})?)$",
        description="Where sentence-transformers computes: cpu, cuda, cuda:1, mps; auto takes a GPU if one is there, else the CPU.",
    )
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        default="auto", description="Numbers that sentence-transformers computes with; auto takes float16 on CUDA and float32 elsewhere."
    )
    score_midpoint: float = Field(
        default=0.46,
        ge=-1,
        le=1,
        description="Cosine that the folder's model scores .5; bench/calibration.py fits it.",
    )
    score_slope: float = Field(default=17.0, gt=0, le=200, description="How steeply that score rises; bench/calibration.py fits it.")
    dir: Path = Field(default_factory=default_dir, description="Folder of the model files; no network is needed once they are there.")
    threads: int = Field(default=0, ge=0, le=64, description="Threads of the model; 0 takes half of the cores, at most 4.")
    index_url: str = Field(default="", description="Simple index to pull from; empty takes pip's and uv's settings.")
    batch_tokens: int | None = Field(
        default=None,
        ge=256,
        le=262_144,
        description="Tokens computed together; unset takes 512, with sentence-transformers 2,048 on a CPU and 32,768 on a GPU.",
    )
    batch_wait_ms: float = Field(default=5.0, ge=0, le=1000, description="How long a first passage waits for others to share its batch.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.takes_folder and self.folder is None:
            raise ValueError("the backend sentence-transformers needs EUNOE_MODELS__FOLDER, the folder of a model")
        return self

    @property
    def takes_folder(self) -> bool:
        """The model is the one in `folder`, not that of the profile."""
        return self.backend == "sentence-transformers" and self.profile != "none"
