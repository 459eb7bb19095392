"""Settings of the one-process server, and of the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from eunoe_gateway.config import DoorSettings
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from eunoe_standalone.default_directory import default_data_dir


class ServerSettings(DoorSettings):
    """Where the one process keeps its data and listens."""

    data_dir: Path = Field(default_factory=default_data_dir, description="Data directory; one server per directory.")
    drain_s: float = Field(default=10.0, ge=0, description="Seconds that work in flight gets to finish on stop.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level that is logged.")
    log_format: Literal["auto", "console", "json"] = Field(default="auto", description="Log lines for people or as JSON.")
    event_retention_s: float = Field(
        default=604_800.0, ge=60, le=3_153_600_000, description="Age at which events that every stage has behind it leave the log."
    )
    queue_low_disk_bytes: int = Field(
        default=64 * 1024 * 1024, ge=0, description="New work is refused below this much free space; search goes on."
    )


class ClientSettings(BaseSettings):
    """Which server the commands talk to, when it is not the one of a data directory (`EUNOE_CLIENT__*`)."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_CLIENT__", env_file=".env", extra="ignore", frozen=True)

    server: str = Field(
        default="",
        description="gRPC door that the commands talk to, HOST:PORT or https://HOST:PORT; empty takes the server of the data directory.",
    )
    token: SecretStr = Field(default=SecretStr(""), description="Token of the commands for that server; empty sends none.")
