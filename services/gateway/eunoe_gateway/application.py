"""The application layer as the doors see it: one method per call, protobuf in, protobuf out.

gRPC servicers and HTTP routes only translate; none has logic of its own. Every method checks the principal's scope and
raises `eunoe_contracts.errors` types. All writing methods may be called twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from eunoe.v1 import admin_pb2, container_pb2, ingest_pb2, memory_pb2, search_pb2, types_pb2
from eunoe_contracts.tenancy import Principal


class Searcher(Protocol):
    """The search service, in process or over gRPC."""

    async def search(self, tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """Ranked, cited hits. Raises `UnknownFilter`, `InvalidField`."""
        ...

    async def explain(self, tenant: str, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """Per-arm ranks and scores of one hit. Raises `MemoryNotFound`."""
        ...


class Application(Protocol):
    """All calls of the gateway."""

    async def authenticate(self, secret: str, *, loopback: bool) -> Principal:
        """The principal of a bearer secret (empty: anonymous, only when allowed on this bind). Raises `Unauthenticated`."""
        ...

    async def ingest(self, who: Principal, request: ingest_pb2.IngestRequest) -> ingest_pb2.IngestResponse:
        """Accept one content. Returns when blob and row are durable. Raises `EmptyContent`, `UnsupportedFormat`, `QueueFull`, ..."""
        ...

    async def upload(
        self, who: Principal, start: Callable[[], ingest_pb2.UploadStart], chunks: AsyncIterator[bytes]
    ) -> ingest_pb2.UploadResponse:
        """Accept a file, streamed to the blob store, never whole in memory.

        `start` is called after the last chunk: a multipart form may name the container after the file. With `restore`, which needs
        the admin scope, the document keeps its id and its time; raises `DocumentErased` when it was erased here.
        """
        ...

    async def begin_upload(self, who: Principal, request: ingest_pb2.BeginUploadRequest) -> ingest_pb2.BeginUploadResponse:
        """A form with which the caller sends a file to the blob store itself. Raises `DirectUploadUnavailable`, `PayloadTooLarge`."""
        ...

    async def commit_upload(self, who: Principal, request: ingest_pb2.CommitUploadRequest) -> ingest_pb2.CommitUploadResponse:
        """Accept what was sent with the form, once its size and checksum were seen to be those declared. Twice gives the same
        document. Raises `UploadNotFound`, `ChecksumMismatch`, and what `upload` raises.
        """
        ...

    async def add_messages(self, who: Principal, request: ingest_pb2.AddMessagesRequest) -> ingest_pb2.AddMessagesResponse:
        """Accept turns of a conversation, one document per turn with session, speaker, position and date in its metadata."""
        ...

    async def ingest_url(self, who: Principal, request: ingest_pb2.IngestUrlRequest) -> ingest_pb2.IngestUrlResponse:
        """Refused with `CapabilityUnavailable` until a fetcher is part of this server."""
        ...

    async def get_document(self, who: Principal, document_id: str) -> types_pb2.Document:
        """Raises `InvalidField` for a malformed id, `DocumentNotFound`."""
        ...

    async def document_text(self, who: Principal, document_id: str) -> str:
        """The extracted text in order."""
        ...

    def document_content(self, who: Principal, document_id: str) -> AsyncIterator[ingest_pb2.GetDocumentContentResponse]:
        """The document, then its bytes as they were accepted, in chunks. Raises `DocumentNotFound`, `BlobNotFound`."""
        ...

    async def list_documents(self, who: Principal, request: ingest_pb2.ListDocumentsRequest) -> ingest_pb2.ListDocumentsResponse:
        """Newest first, or in order of acceptance after a sequence; `total` is the true total."""
        ...

    def watch_document(self, who: Principal, document_id: str, *, since: int) -> AsyncIterator[types_pb2.Document]:
        """The document at once and after every change, until it has ended."""
        ...

    async def cancel_document(self, who: Principal, document_id: str) -> types_pb2.Document:
        """End an open document as cancelled."""
        ...

    async def delete_document(self, who: Principal, document_id: str) -> ingest_pb2.DeleteDocumentResponse:
        """Erase: gone from every answer when this returns, from every store soon after."""
        ...

    async def get_memory(self, who: Principal, memory_id: str) -> types_pb2.Memory:
        """A passage, section, root or extracted memory. Raises `MemoryNotFound`."""
        ...

    async def list_memories(self, who: Principal, request: memory_pb2.ListMemoriesRequest) -> memory_pb2.ListMemoriesResponse:
        """Extracted memories and, with kinds passage, section or root and a document, its units."""
        ...

    async def list_removed_memories(
        self, who: Principal, request: memory_pb2.ListRemovedMemoriesRequest
    ) -> memory_pb2.ListRemovedMemoriesResponse:
        """Extracted memories that callers removed, by id."""
        ...

    async def update_memory(self, who: Principal, request: memory_pb2.UpdateMemoryRequest) -> types_pb2.Memory:
        """Edit an extracted memory."""
        ...

    async def delete_memory(self, who: Principal, memory_id: str) -> memory_pb2.DeleteMemoryResponse:
        """Remove an extracted memory. Units of a document are removed with the document only (`Conflict`)."""
        ...

    async def related(self, who: Principal, request: memory_pb2.RelatedRequest) -> memory_pb2.RelatedResponse:
        """Neighbours in the graph, both directions."""
        ...

    async def profile(self, who: Principal, request: memory_pb2.ProfileRequest) -> memory_pb2.ProfileResponse:
        """Static facts (fact or preference, latest, confidence >= .7) and the last seven days."""
        ...

    async def search(self, who: Principal, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """See `Searcher.search`."""
        ...

    async def explain(self, who: Principal, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """See `Searcher.explain`."""
        ...

    async def list_containers(
        self, who: Principal, request: container_pb2.ContainerServiceListRequest
    ) -> container_pb2.ContainerServiceListResponse:
        """By name."""
        ...

    async def delete_container(
        self, who: Principal, request: container_pb2.ContainerServiceDeleteRequest
    ) -> container_pb2.ContainerServiceDeleteResponse:
        """Erase every document of exactly this container. Raises `ConfirmationRequired`, `ContainerNotFound`."""
        ...

    async def stats(self, who: Principal) -> admin_pb2.StatsResponse:
        """Counts in the shape of `GET /v1/stats`."""
        ...

    async def dead_letters(self, who: Principal, request: admin_pb2.DeadLettersRequest) -> admin_pb2.DeadLettersResponse:
        """Dead letters of the caller's tenant (of all for the local operator)."""
        ...

    async def replay(self, who: Principal, request: admin_pb2.ReplayRequest) -> admin_pb2.ReplayResponse:
        """Reopen exhausted stages and publish their input again. Twice is a no-op."""
        ...

    async def create_token(self, who: Principal, request: admin_pb2.CreateTokenRequest) -> admin_pb2.CreateTokenResponse:
        """A new token; its secret is in this answer only."""
        ...

    async def tokens(self, who: Principal) -> admin_pb2.TokensResponse:
        """Newest first, never with secrets."""
        ...

    async def revoke_token(self, who: Principal, token_id: str) -> admin_pb2.RevokeTokenResponse:
        """Effective at once. Twice keeps the first time."""
        ...

    async def list_formats(self, who: Principal) -> ingest_pb2.ListFormatsResponse:
        """Every format that eunoe reads, and whether it is accepted now."""
        ...

    async def readiness(self) -> admin_pb2.ReadinessResponse:
        """Ready or not, with a reason per part; never needs a token, never names tenants or content."""
        ...
