"""Settings of the one-process server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from eunoe_standalone.default_directory import default_data_dir


def as_list(value: Any) -> Any:
    """`a, b` as well as `["a", "b"]`: people write the one, orchestrators the other."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [each.strip() for each in value.split(",") if each.strip()]


Names: TypeAlias = Annotated[tuple[str, ...], NoDecode, BeforeValidator(as_list)]


class ServerSettings(BaseSettings):
    """Where the server keeps its data and listens."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_SERVER__", env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(default_factory=default_data_dir, description="Data directory; one server per directory.")
    http: str = Field(default="127.0.0.1:8080", description="HOST:PORT of the HTTP door; port 0 picks a free one.")
    grpc: str = Field(default="127.0.0.1:50051", description="HOST:PORT of the gRPC door; port 0 picks a free one.")
    drain_s: float = Field(default=10.0, ge=0, description="Seconds that work in flight gets to finish on stop.")
    hosts: Names = Field(default=(), description="Names that `Host` may have beside loopback and the listening address, with commas.")
    origins: Names = Field(default=(), description="Origins of web pages that may call the HTTP door, with commas.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level that is logged.")
    log_format: Literal["auto", "console", "json"] = Field(default="auto", description="Log lines for people or as JSON.")
    event_retention_s: float = Field(
        default=604_800.0, ge=60, le=3_153_600_000, description="Age at which events that every stage has behind it leave the log."
    )
    queue_low_disk_bytes: int = Field(
        default=64 * 1024 * 1024, ge=0, description="New work is refused below this much free space; search goes on."
    )
