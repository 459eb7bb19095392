"""What an import keeps of a document: its id and the time when it was first accepted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from eunoe.v1 import ingest_pb2
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.catalogue.rows import NewDocument

from eunoe_gateway import fields
from eunoe_gateway.access import require


@dataclass(frozen=True, slots=True)
class Kept:
    """A checked `Restore`."""

    id: UUID
    created_at: datetime | None

    def on(self, new: NewDocument) -> NewDocument:
        """The document with what is kept. To send it once more changes nothing, and what was erased here stays so."""
        return replace(new, id=self.id, created_at=self.created_at, is_keyed=True, unless_erased=True)


def kept(who: Principal, said: ingest_pb2.UploadStart, *, now: datetime) -> Kept | None:
    """None for an ordinary upload. Raises `PermissionDenied`, since ids are else computed from what callers send; `InvalidField`."""
    if not said.HasField("restore"):
        return None
    require(who, Scope.ADMIN)
    before = said.restore
    created_at = fields.time(before.created_at, "restore.created_at") if before.HasField("created_at") else None
    return Kept(fields.identifier(before.id, "restore.id"), min(created_at, now) if created_at else None)
