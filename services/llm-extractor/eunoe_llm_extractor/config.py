"""Settings of the llm-extractor: `EUNOE_LLM__<KEY>`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class LlmSettings(BaseSettings):
    """Which backend finds memories, and how many."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_LLM__", env_file=".env", frozen=True, extra="ignore")

    provider: Literal["rules"] = Field(default="rules", description="Backend that finds memories; `rules` needs no model.")
    max_memories: int = Field(default=50, ge=0, le=1000, description="Most memories of one document; the most certain are kept.")
    concurrency: int = Field(default=16, ge=1, le=256, description="Documents in work at the same time, per partition.")
    deadline_s: float = Field(default=60.0, gt=0, le=60, description="Longest run of one handler.")
    max_attempts: int = Field(default=5, ge=1, le=20, description="Tries before a dead letter.")
