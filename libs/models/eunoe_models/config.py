"""Settings of the models, section MODELS."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_dir() -> Path:
    """`eunoe/models` in the user's cache: XDG_CACHE_HOME, else `~/.cache` (XDG base directory specification)."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache") / "eunoe" / "models"


class ModelSettings(BaseSettings):
    """`EUNOE_MODELS__*`."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_MODELS__", env_file=".env", frozen=True, extra="ignore")

    profile: Literal["minilm", "none"] = Field(default="minilm", description="Embedding model; `none` searches by words only.")
    dir: Path = Field(default_factory=default_dir, description="Folder of the model files; no network is needed once they are there.")
    threads: int = Field(default=0, ge=0, le=64, description="Threads of the model; 0 takes half of the cores, at most 4.")
    index_url: str = Field(default="", description="Simple index to pull from; empty takes pip's and uv's settings.")
    batch_tokens: int = Field(default=512, ge=256, le=65_536, description="Tokens computed together.")
    batch_wait_ms: float = Field(default=5.0, ge=0, le=1000, description="How long a first passage waits for others to share its batch.")
