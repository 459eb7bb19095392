"""Settings of the PostgreSQL database, section POSTGRES."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class PostgresSettings(BaseSettings):
    """`EUNOE_POSTGRES__*`. What the URL does not say, the other settings do."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_POSTGRES__", env_file=".env", frozen=True, extra="ignore")

    url: SecretStr = Field(default=SecretStr(""), description="`postgresql://user:password@host:port/database`; wins over the parts.")
    host: str = Field(default="127.0.0.1", description="Server; several with commas, the one that takes writes is used.")
    port: int = Field(default=5432, ge=1, le=65_535, description="Its port.")
    database: str = Field(default="eunoe", description="Database.")
    user: str = Field(default="eunoe", description="Role. Once the tables are there it needs no right to change them.")
    password: SecretStr = Field(default=SecretStr(""), description="Its password.")
    search_path: str = Field(default="", description="Schema of the tables; empty takes the role's own.")
    tls: Literal["disable", "prefer", "require", "verify-ca", "verify-full"] = Field(
        default="prefer", description="libpq's `sslmode`; over a network use `verify-full`."
    )
    tls_ca: Path | None = Field(default=None, description="Certificates of the authorities that may vouch for the server.")
    tls_certificate: Path | None = Field(default=None, description="Our own certificate, if the server asks for one.")
    tls_key: Path | None = Field(default=None, description="The key of our own certificate.")
    pool_size: int = Field(default=8, ge=1, le=100, description="Connections of this process, and threads that use them.")
    connect_timeout_s: int = Field(default=5, ge=2, le=120, description="Longest wait for a connection.")
    statement_timeout_s: float = Field(default=30.0, gt=0, le=3600, description="The server ends a statement after this time.")
    lock_timeout_s: float = Field(default=10.0, gt=0, le=3600, description="The server ends a wait for a lock after this time.")
    call_timeout_s: float = Field(
        default=45.0,
        gt=0,
        le=7200,
        description="A call that has no answer by then fails and its connection is closed, whatever the server does.",
    )
    attempts: int = Field(
        default=10, ge=1, le=50, description="How often a transaction is run that the server rolled back in favour of another one."
    )
