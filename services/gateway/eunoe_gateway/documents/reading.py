"""Reading documents: one, many, their text, and their changes as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from eunoe.v1 import ingest_pb2, types_pb2
from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.errors import Conflict, DocumentNotFound, InvalidField
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import Principal, Scope, checked_container
from eunoe_stores.blobs.port import BlobKey, BlobStore
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.catalogue.rows import DocumentQuery, DocumentRow

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require_any


class Reading:
    """Calls that only read documents."""

    def __init__(self, catalogue: Catalogue, blobs: BlobStore) -> None:
        self._catalogue = catalogue
        self._blobs = blobs

    async def _row(self, who: Principal, document_id: str) -> DocumentRow:
        tenant = require_any(who, Scope.INGEST, Scope.SEARCH)
        row = await self._catalogue.document(tenant, fields.identifier(document_id))
        if row is None:
            raise DocumentNotFound
        return row

    async def get(self, who: Principal, document_id: str) -> types_pb2.Document:
        """Raises `InvalidField` for a malformed id, `DocumentNotFound`."""
        row = await self._row(who, document_id)
        searchable = protobuf.is_searchable(row)
        if not searchable and row.generation > 1:
            # While a new generation is made, readers see the older one.
            readable = await self._catalogue.latest_generation_with_units(row.tenant, row.id)
            searchable = 0 < readable < row.generation
        return protobuf.document(row, searchable=searchable)

    async def text(self, who: Principal, document_id: str) -> str:
        """The text in order. Raises `Conflict` while there is none yet, or when the document ended without."""
        row = await self._row(who, document_id)
        generation = await self._catalogue.latest_generation_with_units(row.tenant, row.id)
        if generation == 0:
            raise Conflict(f"There is no text of this document; its status is {row.status}.")
        return whole_text(await self._catalogue.units(row.tenant, row.id, generation))

    async def content(self, who: Principal, document_id: str) -> AsyncIterator[ingest_pb2.GetDocumentContentResponse]:
        """The document, then its bytes as they were accepted. Raises `DocumentNotFound`, `BlobNotFound`."""
        row = await self._row(who, document_id)
        yield ingest_pb2.GetDocumentContentResponse(document=protobuf.document(row))
        async for chunk in self._blobs.stream(row.tenant, BlobKey(row.id, row.generation, row.blob)):
            yield ingest_pb2.GetDocumentContentResponse(chunk=chunk)

    async def list(self, who: Principal, request: ingest_pb2.ListDocumentsRequest) -> ingest_pb2.ListDocumentsResponse:
        """Newest first, or in order of acceptance after a sequence. Raises `InvalidField` for an unknown status."""
        tenant = require_any(who, Scope.INGEST, Scope.SEARCH)
        if request.status and request.status not in set(DocumentStatus):
            raise InvalidField(f"status: one of {', '.join(DocumentStatus)}")
        query = DocumentQuery(
            container=checked_container(request.container) if request.container else "",
            status=request.status,
            custom_id=fields.line(request.custom_id, "custom_id"),
            after=request.after_sequence if request.HasField("after_sequence") else None,
        )
        rows, total = await self._catalogue.list_documents(tenant, query, fields.page(request.limit, request.offset))
        return ingest_pb2.ListDocumentsResponse(documents=[protobuf.document(each) for each in rows], total=total)

    async def watch(self, who: Principal, document_id: str, *, since: int) -> AsyncIterator[types_pb2.Document]:
        """The document whenever its revision is above `since`, until it has ended. Raises `DocumentNotFound`."""
        row = await self._row(who, document_id)
        async for each in self._catalogue.watch(row.tenant, row.id, since=since):
            yield protobuf.document(each)


def whole_text(units: Sequence[Unit]) -> str:
    """The text of a document from its units: the sections joined; without sections the root is the text itself."""
    sections = [each for each in units if each.kind is Kind.SECTION]
    roots = [each for each in units if each.kind is Kind.ROOT]
    if not sections and roots and roots[0].text:
        return roots[0].text
    parts = sections or [each for each in units if each.kind is Kind.PASSAGE]
    return "\n\n".join(each.text for each in sorted(parts, key=lambda each: each.ordinal))
