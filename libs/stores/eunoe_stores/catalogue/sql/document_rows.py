"""From rows of the table `documents` to values, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Any

from eunoe_contracts.content import Metadata
from eunoe_contracts.identity import normalised_statement, sha256_hex
from eunoe_contracts.stages import DocumentStatus, Stage, StageState
from sqlalchemy import Row, select

from eunoe_stores.catalogue.rows import DocumentRow, NewDocument, StageRow
from eunoe_stores.catalogue.tables import documents, stages

FIELDS = (
    *("id", "tenant", "generation", "container", "content_type", "media_type", "name", "custom_id", "size", "sha256", "blob"),
    *("metadata", "tags", "event_time", "source_url", "warnings", "status", "error_code", "error_message", "degraded", "counts"),
    *("revision", "sequence", "published", "created_at", "updated_at", "title", "trace"),
)
"""Columns that make a `DocumentRow`, in its order."""
LONGEST_KEY = 512
"""Bytes of a derived column that has an index."""
FARTHEST = 2**63
"""No database counts further; a position beyond is none."""

SELECT = select(*(documents.c[name] for name in FIELDS))
SELECT_STAGES = select(
    stages.c.document,
    stages.c.generation,
    stages.c.stage,
    stages.c.state,
    stages.c.attempts,
    stages.c.code,
    stages.c.message,
    stages.c.updated_at,
)


def findable(text: str) -> str:
    """The text, or its beginning and its hash when it is too long for an index (PostgreSQL takes rows of up to 2,704 bytes there)."""
    if len(text) <= LONGEST_KEY // 4 or len(text.encode(errors="replace")) <= LONGEST_KEY:
        return text
    return f"{text[: LONGEST_KEY // 8]}#{sha256_hex(text.encode(errors='replace'))}"


def title_key(title: str) -> str:
    """What makes two titles the same."""
    return findable(normalised_statement(title.replace("\0", "\ufffd")))


def name_key(name: str) -> str:
    """The same for a file name, without folders and extension."""
    return title_key(PurePath(name).stem) if name else ""


def derived_from_metadata(metadata: Metadata) -> dict[str, Any]:
    """Columns that repeat a part of the metadata to make it findable."""
    session, position, title = metadata.get("session"), metadata.get("position"), metadata.get("title")
    is_number = isinstance(position, int) and not isinstance(position, bool) and abs(position) < FARTHEST
    return {
        "session": findable(session) if isinstance(session, str) else "",
        "position": position if is_number else None,
        "title": title if isinstance(title, str) else "",
        "title_key": title_key(title) if isinstance(title, str) else "",
    }


def accepted_values(
    tenant: str, new: NewDocument, *, generation: int, revision: int, created_at: datetime, now: datetime
) -> dict[str, Any]:
    """Column values of a generation that was accepted just now."""
    return {
        "tenant": tenant,
        "id": new.id,
        "generation": generation,
        "container": new.container,
        "content_type": new.content_type,
        "media_type": new.media_type,
        "name": new.name,
        "name_key": name_key(new.name),
        "custom_id": new.custom_id,
        "size": new.size,
        "sha256": new.sha256,
        "blob": new.blob,
        "fingerprint": new.fingerprint,
        "metadata": dict(new.metadata),
        "tags": list(new.tags),
        "event_time": new.event_time,
        "source_url": new.source_url,
        "warnings": list(new.warnings),
        "status": DocumentStatus.QUEUED.value,
        "is_open": True,
        "error_code": "",
        "error_message": "",
        "degraded": [],
        "counts": {},
        "revision": revision,
        "published": False,
        "trace": new.trace,
        "created_at": created_at,
        "updated_at": now,
        **derived_from_metadata(new.metadata),
    }


def document_row(row: Mapping[Any, Any], ledger: Mapping[Stage, StageRow] | None = None) -> DocumentRow:
    """The value of a row that has at least `FIELDS`."""
    values = {name: row[name] for name in FIELDS}
    for name in ("tags", "warnings", "degraded"):
        values[name] = tuple(values[name])
    values["status"] = DocumentStatus(values["status"])
    return DocumentRow(**values, stages=ledger or {})


def ledger_rows(rows: Iterable[Row[Any]]) -> dict[Stage, StageRow]:
    """The ledger of one generation, from rows of `SELECT_STAGES`, in pipeline order."""
    found = {
        row.stage: StageRow(Stage(row.stage), StageState(row.state), row.attempts, row.code, row.message, row.updated_at) for row in rows
    }
    return {stage: found[stage.value] for stage in Stage if stage.value in found}
