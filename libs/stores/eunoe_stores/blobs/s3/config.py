"""Settings of the S3 blob store, section S3."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class S3Settings(BaseSettings):
    """`EUNOE_S3__*`."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_S3__", env_file=".env", frozen=True, extra="ignore")

    endpoint: str = Field(default="127.0.0.1:9000", description="Host and port, without a scheme.")
    tls: bool = Field(default=True, description="Speak HTTPS.")
    tls_ca: Path | None = Field(
        default=None, description="Certificates of the authorities that may vouch for the server; empty: the system's."
    )
    region: str = Field(default="us-east-1", description="Region of the bucket.")
    path_style: bool = Field(default=True, description="The bucket is a part of the path; false: of the host name, as AWS wants it.")
    access_key: SecretStr = Field(default=SecretStr(""), description="Access key.")
    secret_key: SecretStr = Field(default=SecretStr(""), description="Its secret.")
    bucket: str = Field(default="eunoe", description="Bucket.")
    create_bucket: bool = Field(default=False, description="Make the bucket when it is not there.")
    prefix: str = Field(default="", description="Put before every key, for a bucket that others use too, such as `eunoe/`.")
    public_url: str = Field(
        default="",
        description="Address at which callers reach the server for direct uploads, such as https://files.example; empty: the endpoint.",
    )
    part_size_mib: int = Field(default=8, ge=5, le=512, description="Size of the parts of an upload; up to three are in memory for each.")
    pool_size: int = Field(default=16, ge=1, le=128, description="Connections of this process, and threads that use them.")
    connect_timeout_s: float = Field(default=3.0, gt=0, le=120, description="Longest wait for a connection.")
    read_timeout_s: float = Field(default=10.0, gt=0, le=600, description="Longest silence of the server.")
    transfer_timeout_s: float = Field(default=60.0, gt=0, le=3600, description="Longest time that a part of a blob may take on its way.")
    retries: int = Field(default=2, ge=0, le=10, description="Further tries of a request that the server could not answer.")
