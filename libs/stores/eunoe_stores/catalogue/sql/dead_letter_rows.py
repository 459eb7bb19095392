"""Writing dead letters. One row per given-up record: a further failure after a replay updates it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from eunoe_contracts.identity import event_id as derived_id
from eunoe_contracts.stages import DocumentStatus
from sqlalchemy import Connection, bindparam, insert, select, update

from eunoe_stores.catalogue.sql.ledger_state import FailureLike, StageKeyLike
from eunoe_stores.catalogue.sql.locks import lock_documents
from eunoe_stores.catalogue.tables import dead_letters, documents

NAMES = select(documents.c.container, documents.c.name, documents.c.generation, documents.c.status).where(
    documents.c.id == bindparam("document"), documents.c.tenant == bindparam("of_tenant")
)
EXISTS = select(dead_letters.c.id).where(dead_letters.c.id == bindparam("letter"))
INSERT = insert(dead_letters)


def write_exhausted(connection: Connection, tenant: str, key: StageKeyLike, failure: FailureLike) -> None:
    """The dead letter of an exhausted stage, with the document's name and container."""
    letter = derived_id("dead-letter", tenant, str(key.document), key.generation, key.stage.value)
    about = {"tenant": tenant, "document": key.document, "generation": key.generation, "stage": key.stage.value}
    _write(connection, letter, about | _names(connection, tenant, key.document), failure)


def write_poison(connection: Connection, tenant: str, *, group: str, failure: FailureLike, event_id: str, document: UUID | None) -> None:
    """The dead letter of a record without a ledger row; it names the consumer group in place of a stage."""
    letter = derived_id("dead-letter", tenant, event_id, 0, group, failure.topic)
    # An erasure blanks the letters that it sees; none with a name may come after it.
    locked = lock_documents(connection, [document] if document else [])
    is_known = document is not None and (locked is None or document in locked)
    names = _names(connection, tenant, document) if document and is_known else {"container": "", "document_name": "", "generation": 0}
    about = {"tenant": tenant, "document": document, "stage": group}
    _write(connection, letter, about | names, failure)


def _names(connection: Connection, tenant: str, document: UUID) -> dict[str, Any]:
    row = connection.execute(NAMES, {"document": document, "of_tenant": tenant}).first()
    if row is None or row.status == DocumentStatus.ERASED:
        return {"container": "", "document_name": "", "generation": 0}
    return {"container": row.container, "document_name": row.name, "generation": row.generation}


def _write(connection: Connection, letter: UUID, about: dict[str, Any], failure: FailureLike) -> None:
    values = about | {
        "code": failure.code,
        "message": failure.message,
        "attempts": failure.attempts,
        "last_failed_at": failure.failed_at,
        "replayed_at": None,
        "trace": failure.trace,
        "topic": failure.topic,
    }
    if connection.execute(EXISTS, {"letter": letter}).first() is None:
        connection.execute(INSERT, values | {"id": letter, "replays": 0, "first_failed_at": failure.first_failed_at}).close()
    else:
        connection.execute(update(dead_letters).where(dead_letters.c.id == letter).values(values)).close()
