"""JSON bodies of the `/v1` door (MemoryDB's fields, plus ours)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MAX_OFFSET = 2**31 - 1  # of a protobuf int32


class DocumentBody(BaseModel):
    """`POST /v1/documents`. Unknown fields are accepted and named in `warnings[]`."""

    model_config = ConfigDict(extra="allow")

    content: str = Field(description="The text, or the address for content_type url.")
    container: str = Field(description="Dot path such as team.project.")
    content_type: str = Field(default="text", description="text, markdown, code, html; url comes with the fetcher.")
    name: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    custom_id: str = ""
    event_time: datetime | None = None


class UploadBeginBody(BaseModel):
    """`POST /v1/uploads`."""

    model_config = ConfigDict(extra="forbid")

    size: int = Field(ge=1, le=2**63 - 1, description="Of the file, in bytes.")


class UploadCommitBody(BaseModel):
    """`POST /v1/uploads/{id}/commit`. Unknown fields are accepted and named in `warnings[]`."""

    model_config = ConfigDict(extra="allow")

    size: int = Field(ge=1, le=2**63 - 1, description="Of the file, in bytes.")
    sha256: str = Field(description="Of the file, in hex.")
    container: str = Field(description="Dot path such as team.project.")
    content_type: str = ""
    name: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    custom_id: str = ""
    event_time: datetime | None = None


class DocumentListBody(BaseModel):
    """`POST /v1/documents/list`."""

    model_config = ConfigDict(extra="forbid")

    container: str = ""
    status: str = ""
    custom_id: str = ""
    limit: int = Field(default=50, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


class SearchBody(BaseModel):
    """`POST /v1/search`. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    query: str
    container: str | None = None
    containers: list[str] | None = None
    inherit: bool = False
    limit: int = Field(default=10, ge=1, le=100)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    mode: str = "hybrid"
    fusion: str = ""
    include_related: bool = False
    filters: dict[str, Any] = Field(default_factory=dict)
    explain: bool = False
    as_of: datetime | None = None


class MemoryPatchBody(BaseModel):
    """`PATCH /v1/memories/{id}`."""

    model_config = ConfigDict(extra="forbid")

    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None
    is_latest: bool | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)


class ReplayBody(BaseModel):
    """`POST /v1/dead-letters/replay`."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str] = Field(default_factory=list)
    code: str = ""
    document_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    tenant: str = Field(default="", description="For the local operator, who otherwise reaches all tenants.")
    dry_run: bool = False
    limit: int = Field(default=1000, ge=1, le=1000, description="Most letters put back to work by this call.")
