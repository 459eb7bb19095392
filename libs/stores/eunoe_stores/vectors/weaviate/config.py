"""Settings of the vector index on Weaviate, section WEAVIATE."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class WeaviateSettings(BaseSettings):
    """`EUNOE_WEAVIATE__*`. The server should run with `ASYNC_INDEXING=true`, else a kill can take acknowledged vectors out of the index."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_WEAVIATE__", env_file=".env", frozen=True, extra="ignore")

    http_host: str = Field(default="127.0.0.1", min_length=1, description="Where the HTTP port is.")
    http_port: int = Field(default=8080, ge=1, le=65_535, description="The HTTP port: schema, single changes.")
    http_tls: bool = Field(default=False, description="Whether the HTTP port speaks TLS.")
    grpc_host: str = Field(default="", description="Where the gRPC port is; empty takes the host of HTTP.")
    grpc_port: int = Field(default=50_051, ge=1, le=65_535, description="The gRPC port: queries and batches.")
    grpc_tls: bool = Field(default=False, description="Whether the gRPC port speaks TLS.")
    api_key: SecretStr = Field(default=SecretStr(""), description="API key; empty for a server that lets everybody in.")
    connect_timeout_s: float = Field(default=10.0, gt=0, le=120, description="How long the start waits for the server.")
    query_timeout_s: float = Field(default=5.0, gt=0, le=120, description="How long a query may take.")
    write_timeout_s: float = Field(default=30.0, gt=0, le=300, description="How long a batch, a removal or a change of schema may take.")
    visible_s: float = Field(default=10.0, ge=0, le=300, description="How long a read-back waits for the next vectors to be indexed.")
    collection: str = Field(
        default="EunoeRow",
        pattern="^[A-Z][A-Za-z0-9]{0,39}$",
        description="Name of the alias, and first part of the names of the collections behind it, one for each generation of the index.",
    )
    generation: int = Field(default=0, ge=0, description="Generation of the index to work on; 0 takes the one that the alias names.")
    allow_blockmax: bool = Field(
        default=False,
        description="Whether a server will do that ranks words by BlockMax WAND: its lists lack good rows of the last minute.",
    )
    replication_factor: int = Field(default=1, ge=1, le=9, description="Copies of each tenant, when the collection is made.")
    batch_rows: int = Field(default=200, ge=1, le=1000, description="Rows in one batch.")
    batch_bytes: int = Field(default=4_000_000, ge=100_000, le=50_000_000, description="Bytes in one batch.")
    unindexed_rows: int = Field(default=20_000, ge=100, description="Rows written but not yet seen in the vector index; more must wait.")
    parent_rows: int = Field(default=500, ge=100, le=5_000, description="Rows read at a time to score the parents of passages.")
