"""Settings of the graph on Neo4j, section NEO4J."""

from __future__ import annotations

from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Neo4jSettings(BaseSettings):
    """`EUNOE_NEO4J__*`."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_NEO4J__", env_file=".env", frozen=True, extra="ignore")

    uri: str = Field(
        default="bolt://127.0.0.1:7687",
        pattern=r"^(bolt|neo4j)(\+s|\+ssc)?://",
        description="Address: bolt:// for one server, neo4j:// for a cluster, +s for TLS.",
    )
    user: str = Field(default="neo4j", description="User; at the first start it must be allowed to create constraints and indexes.")
    password: SecretStr = Field(default=SecretStr(""), description="Password of the user.")
    database: str = Field(default="neo4j", min_length=1, description="Database; best one that holds nothing else.")
    read_timeout_s: float = Field(default=10.0, gt=0, le=60, description="Longest wait for an answer, tries included.")
    write_timeout_s: float = Field(default=30.0, gt=0, le=60, description="Longest wait for a write, tries included.")
    connect_timeout_s: float = Field(default=3.0, gt=0, le=30, description="Longest wait for a new connection.")
    retry_s: float = Field(default=10.0, ge=0, le=60, description="How long a write that met a lock or a lost connection is tried again.")
    pool_size: int = Field(default=50, ge=2, le=1000, description="Most connections of one process.")
    writes_at_once: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="Most writes of one process at the same time, fewer than its connections.",
    )

    @model_validator(mode="after")
    def _leave_connections_to_reads(self) -> Self:
        if self.writes_at_once >= self.pool_size:
            raise ValueError("writes_at_once must be below pool_size: reads need connections, too")
        return self
