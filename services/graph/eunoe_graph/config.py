"""Settings of the graph service: `EUNOE_GRAPH__<KEY>`."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class GraphSettings(BaseSettings):
    """How much work is done at the same time."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_GRAPH__", env_file=".env", frozen=True, extra="ignore")

    concurrency: int = Field(default=16, ge=1, le=256, description="Documents in work at the same time, per partition.")
    deadline_s: float = Field(default=60.0, gt=0, le=60, description="Longest run of one handler.")
    max_attempts: int = Field(default=5, ge=1, le=20, description="Tries before a dead letter.")
