"""Identity rules: which ids are computed from what. All are UUIDv5 (RFC 9562, section 5.5), so a retry writes the same rows.

Public ids (document, passage, root, section, memory) do not change between generations; the key of a row in a projection
(`row_key`) is the public id with the generation, so that a late writer can touch only its own rows.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from functools import lru_cache
from uuid import UUID, uuid5

NAMESPACE = UUID("6c3bd2f5-6d0f-5d7a-9d43-5f0f0c3e1a55")
SEGMENTER_VERSION = "1"
CLOSING = ".! \u3002\uff01"


@lru_cache(maxsize=16_384)
def _derived(*parts: str) -> UUID:
    # JSON keeps the parts apart: ("a", "bc") and ("ab", "c") must differ. Every stage of a document asks for the same ids.
    return uuid5(NAMESPACE, json.dumps(parts, ensure_ascii=True, separators=(",", ":")))


def document_id(tenant: str, *, container: str, content_sha256: str, content_type: str, name: str) -> UUID:
    """Id of a document posted without an idempotency key: the same content in the same place is the same document."""
    return _derived("document", tenant, container, content_sha256, content_type, name)


def keyed_document_id(tenant: str, idempotency_key: str) -> UUID:
    """Id of a document posted with an idempotency key."""
    return _derived("document-key", tenant, idempotency_key)


def passage_id(document: UUID, ordinal: int, *, segmenter: str = SEGMENTER_VERSION) -> UUID:
    """Id of the n-th passage (0-based)."""
    return _derived("passage", str(document), segmenter, str(ordinal))


def section_id(document: UUID, ordinal: int, *, segmenter: str = SEGMENTER_VERSION) -> UUID:
    """Id of the n-th section (0-based)."""
    return _derived("section", str(document), segmenter, str(ordinal))


def root_id(document: UUID) -> UUID:
    """Id of a document's root; every document has one."""
    return _derived("root", str(document))


def session_id(tenant: str, container: str, session: str) -> UUID:
    """Id of a conversation session inside a container."""
    return _derived("session", tenant, container, session)


def normalised_statement(text: str) -> str:
    """NFKC, case-folded, white space collapsed, closing punctuation dropped: what makes two statements the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(CLOSING)


def memory_id(tenant: str, container: str, kind: str, statement: str) -> UUID:
    """Id of a memory: the same statement from several documents is one memory with several sources."""
    return _derived("memory", tenant, container, kind, normalised_statement(statement))


def entity_id(tenant: str, container: str, name: str, entity_type: str) -> UUID:
    """Id of an entity inside its container."""
    return _derived("entity", tenant, container, normalised_statement(name), entity_type)


def row_key(public_id: UUID, generation: int) -> UUID:
    """Key of a projection row: the public id in one generation (for a memory or an entity, in one epoch)."""
    return _derived("row", str(public_id), str(generation))


def event_id(topic: str, tenant: str, subject: str, generation: int, *extra: str) -> UUID:
    """Id of an event: the same cause gives the same id."""
    return _derived("event", topic, tenant, subject, str(generation), *extra)


def edge_id(source: UUID, kind: str, target: UUID) -> UUID:
    """Id of a graph edge between two row keys."""
    return _derived("edge", str(source), kind, str(target))


def sha256_hex(data: bytes) -> str:
    """Lower-case hex SHA-256."""
    return hashlib.sha256(data).hexdigest()
