"""Settings of the embedder: `EUNOE_EMBEDDER__<KEY>`. The model itself is set in the section MODELS."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class EmbedderSettings(BaseSettings):
    """How much work is done at the same time."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_EMBEDDER__", env_file=".env", frozen=True, extra="ignore")

    concurrency: int = Field(default=16, ge=1, le=256, description="Documents in work at the same time, per partition; they share batches.")
    deadline_s: float = Field(
        default=60.0,
        gt=0,
        le=60,
        description="Longest run of one handler; while the model works, a longer document goes on where it stopped.",
    )
    max_attempts: int = Field(default=8, ge=1, le=20, description="Tries before a dead letter.")
    request_texts: int = Field(default=256, ge=1, le=4096, description="Most texts of one Embed call.")
