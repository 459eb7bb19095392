"""Settings of the gateway, read once at start."""

from __future__ import annotations

from eunoe_process.settings_table import Names
from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

KIB = 1024
MIB = 1024 * KIB


class GatewaySettings(BaseSettings):
    """Limits and intervals of the gateway (`EUNOE_GATEWAY__*`)."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_GATEWAY__", env_file=".env", extra="ignore", frozen=True)

    max_upload_bytes: int = Field(default=512 * MIB, gt=0, description="Largest file that is accepted.")
    max_text_bytes: int = Field(default=16 * MIB, gt=0, description="Largest text that is accepted in one call.")
    max_metadata_bytes: int = Field(default=64 * KIB, gt=0, description="Largest metadata object, as JSON.")
    max_messages: int = Field(default=500, gt=0, description="Most conversation turns in one call.")
    queue_limit: int = Field(default=10_000, gt=0, description="Open documents before new ones are refused with a delay.")
    retry_after_s: float = Field(default=5.0, gt=0, description="Delay named to a caller that was refused for load.")
    publish_wait_s: float = Field(default=1.0, gt=0, description="How long an accepting call waits for the log before it answers.")
    sweep_interval_s: float = Field(default=5.0, gt=0, description="Pause between two passes of the sweeper.")
    sweep_after_s: float = Field(default=15.0, gt=0, description="Documents without progress for this long are looked at.")
    sweep_again_s: float = Field(default=30.0, ge=0, description="Pause before the same document is looked at again, unless it changed.")
    sweep_limit: int = Field(default=1_000, gt=0, description="Documents looked at in one pass.")
    erase_after_s: float = Field(default=65.0, gt=0, description="Age at which an erasure is completed: beyond the longest deadline.")
    stale_upload_s: float = Field(default=86_400.0, gt=0, description="Age at which an unfinished upload is dropped.")
    direct_upload_s: float = Field(
        default=3_600.0, gt=0, le=604_800, description="How long a direct upload to the blob store may be sent after it was begun."
    )
    orphan_interval_s: float = Field(default=3_600.0, gt=0, description="Pause between two looks for blobs that no document owns.")
    read_back_limit_s: float = Field(default=600.0, gt=0, description="A settled document not found in its sinks this long has failed.")
    probe_timeout_s: float = Field(default=2.0, gt=0, description="Time that one readiness probe may take.")
    grpc_max_message_bytes: int = Field(default=4 * MIB, gt=0, description="Largest gRPC message.")
    grpc_concurrent_calls: int = Field(default=256, gt=0, description="Most gRPC calls at the same time.")
    grpc_default_deadline_s: float = Field(default=60.0, gt=0, description="Deadline of a call that brings none.")
    grpc_max_deadline_s: float = Field(default=600.0, gt=0, description="Longest deadline of a call.")
    grpc_stream_deadline_s: float = Field(default=3_600.0, gt=0, description="Longest deadline of a streaming call.")
    grpc_chunk_idle_s: float = Field(default=30.0, gt=0, description="An upload that sends nothing for this long is ended.")
    grpc_reflection: bool = Field(default=False, description="Offer gRPC reflection.")


class DoorSettings(BaseSettings):
    """Where the public doors listen and what web pages may call (`EUNOE_SERVER__*`): the same in one process and in many."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_SERVER__", env_file=".env", extra="ignore", frozen=True)

    http: str = Field(default="127.0.0.1:8080", description="HOST:PORT of the HTTP door; port 0 picks a free one.")
    grpc: str = Field(default="127.0.0.1:50051", description="HOST:PORT of the gRPC door; port 0 picks a free one.")
    hosts: Names = Field(default=(), description="Names that `Host` may have beside loopback and the listening address, with commas.")
    origins: Names = Field(default=(), description="Origins of web pages that may call the HTTP door, with commas.")


class AuthSettings(BaseSettings):
    """Who may call (`EUNOE_AUTH__*`)."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_AUTH__", env_file=".env", extra="ignore", frozen=True, populate_by_name=True)

    api_token: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("EUNOE_AUTH__API_TOKEN", "API_TOKEN"),
        description="A fixed token with all scopes for the default tenant; empty means none.",
    )
    operator_token: SecretStr = Field(
        default=SecretStr(""),
        description="A fixed token of the operator, who makes tokens for all tenants and reaches all dead letters; empty means none.",
    )
    require_auth: bool = Field(default=False, description="Refuse anonymous calls also on loopback.")
