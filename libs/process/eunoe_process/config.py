"""Settings of a process (`EUNOE_PROCESS__*`) and of the calls between processes (`EUNOE_INTERNAL__*`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from eunoe_process.settings_table import Names

EMBEDDER_PORT = 50_052
SEARCH_PORT = 50_053


class ProcessSettings(BaseSettings):
    """Where a process is looked at, how it stops, how it logs."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_PROCESS__", env_file=".env", extra="ignore", frozen=True)

    admin: str = Field(
        default="",
        description="HOST:PORT of `/live`, `/serving`, `/ready`, `/metrics`; empty takes 127.0.0.1 and the service's own port.",
    )
    grpc: str = Field(
        default="", description="HOST:PORT of the internal gRPC door (embedder, search); empty takes 127.0.0.1 and the service's own port."
    )
    start_s: float = Field(default=60.0, gt=0, description="Seconds that the stores get to answer at start.")
    drain_s: float = Field(default=30.0, ge=0, description="Seconds that work in flight gets to finish on stop.")
    probe_timeout_s: float = Field(default=2.0, gt=0, description="Time that one readiness probe may take.")
    stalled_s: float = Field(
        default=300.0, ge=0, description="A process with work before it that moves nothing for this long ends itself; 0 never."
    )
    blocked_s: float = Field(default=120.0, ge=0, description="A process whose event loop stands still this long ends itself; 0 never.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level that is logged.")
    log_format: Literal["auto", "console", "json"] = Field(default="auto", description="Log lines for people or as JSON.")


class InternalSettings(BaseSettings):
    """Calls between processes: where the others are, and what proves that a caller is one of us."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_INTERNAL__", env_file=".env", extra="ignore", frozen=True)

    secret: SecretStr = Field(
        default=SecretStr(""), description="What all processes share and nobody else knows; needed as soon as one is not on loopback."
    )
    embedder: Names = Field(
        default=(f"127.0.0.1:{EMBEDDER_PORT}",),
        description="HOST:PORT of the embedders, with commas; a name may stand for several.",
    )
    search: Names = Field(
        default=(f"127.0.0.1:{SEARCH_PORT}",), description="HOST:PORT of the search processes, with commas; a name may stand for several."
    )
    embed_deadline_s: float = Field(default=1.5, gt=0, description="Time of one query at the embedder; below EUNOE_SEARCH__ARM_TIMEOUT_S.")
    search_deadline_s: float = Field(default=10.0, gt=0, description="Time of one search at the search process.")
