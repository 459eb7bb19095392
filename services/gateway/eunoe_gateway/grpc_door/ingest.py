"""`IngestService`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from eunoe.v1 import ingest_pb2, ingest_pb2_grpc
from eunoe_contracts.errors import DeadlineExceeded, InvalidRequest

from eunoe_gateway.application import Application
from eunoe_gateway.grpc_door.caller import caller

# ruff: noqa: N802, ARG002 - names and signatures are gRPC's


class IngestServicer(ingest_pb2_grpc.IngestServiceServicer):
    """Translates; see `Application`."""

    def __init__(self, application: Application, *, chunk_idle_s: float) -> None:
        self._application = application
        self._chunk_idle_s = chunk_idle_s

    async def Ingest(self, request: ingest_pb2.IngestRequest, context: Any) -> ingest_pb2.IngestResponse:
        """Accept one small content."""
        return await self._application.ingest(caller(), request)

    async def Upload(self, request_iterator: Any, context: Any) -> ingest_pb2.UploadResponse:
        """Accept a file: metadata first, then chunks. A sender that falls silent is ended."""
        requests = aiter(request_iterator)
        first = await self._next(requests)
        if first is None or first.WhichOneof("part") != "start":
            raise InvalidRequest("The first message of an upload must be `start`.")

        async def chunks() -> AsyncIterator[bytes]:
            while (request := await self._next(requests)) is not None:
                if request.WhichOneof("part") != "chunk":
                    raise InvalidRequest("After `start`, an upload has only `chunk` messages.")
                yield request.chunk

        return await self._application.upload(caller(), lambda: first.start, chunks())

    async def BeginUpload(self, request: ingest_pb2.BeginUploadRequest, context: Any) -> ingest_pb2.BeginUploadResponse:
        """Where to send a large file."""
        return await self._application.begin_upload(caller(), request)

    async def CommitUpload(self, request: ingest_pb2.CommitUploadRequest, context: Any) -> ingest_pb2.CommitUploadResponse:
        """Accept what was sent there."""
        return await self._application.commit_upload(caller(), request)

    async def _next(self, requests: AsyncIterator[ingest_pb2.UploadRequest]) -> ingest_pb2.UploadRequest | None:
        try:
            return await asyncio.wait_for(anext(requests), self._chunk_idle_s)
        except StopAsyncIteration:
            return None
        except TimeoutError as error:
            raise DeadlineExceeded(f"The upload sent nothing for {self._chunk_idle_s:g} s.") from error

    async def IngestUrl(self, request: ingest_pb2.IngestUrlRequest, context: Any) -> ingest_pb2.IngestUrlResponse:
        """Accept a URL."""
        return await self._application.ingest_url(caller(), request)

    async def AddMessages(self, request: ingest_pb2.AddMessagesRequest, context: Any) -> ingest_pb2.AddMessagesResponse:
        """Accept turns of a conversation."""
        return await self._application.add_messages(caller(), request)

    async def GetDocument(self, request: ingest_pb2.GetDocumentRequest, context: Any) -> ingest_pb2.GetDocumentResponse:
        """One document."""
        return ingest_pb2.GetDocumentResponse(document=await self._application.get_document(caller(), request.id))

    async def GetDocumentText(self, request: ingest_pb2.GetDocumentTextRequest, context: Any) -> ingest_pb2.GetDocumentTextResponse:
        """Its text."""
        return ingest_pb2.GetDocumentTextResponse(text=await self._application.document_text(caller(), request.id))

    async def GetDocumentContent(
        self, request: ingest_pb2.GetDocumentContentRequest, context: Any
    ) -> AsyncIterator[ingest_pb2.GetDocumentContentResponse]:
        """The bytes of a document."""
        async for part in self._application.document_content(caller(), request.id):
            yield part

    async def ListDocuments(self, request: ingest_pb2.ListDocumentsRequest, context: Any) -> ingest_pb2.ListDocumentsResponse:
        """Many documents."""
        return await self._application.list_documents(caller(), request)

    async def WatchDocument(
        self, request: ingest_pb2.WatchDocumentRequest, context: Any
    ) -> AsyncIterator[ingest_pb2.WatchDocumentResponse]:
        """Changes of a document."""
        async for document in self._application.watch_document(caller(), request.id, since=request.since_revision):
            yield ingest_pb2.WatchDocumentResponse(document=document)

    async def CancelDocument(self, request: ingest_pb2.CancelDocumentRequest, context: Any) -> ingest_pb2.CancelDocumentResponse:
        """End an open document."""
        return ingest_pb2.CancelDocumentResponse(document=await self._application.cancel_document(caller(), request.id))

    async def DeleteDocument(self, request: ingest_pb2.DeleteDocumentRequest, context: Any) -> ingest_pb2.DeleteDocumentResponse:
        """Erase a document."""
        return await self._application.delete_document(caller(), request.id)

    async def ListFormats(self, request: ingest_pb2.ListFormatsRequest, context: Any) -> ingest_pb2.ListFormatsResponse:
        """What can be sent."""
        return await self._application.list_formats(caller())
