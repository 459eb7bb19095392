"""All calls of the gateway in one object: the `Application` that every door uses. Each call is where its noun is."""

from __future__ import annotations

from uuid import UUID

from eunoe.v1 import ingest_pb2, search_pb2
from eunoe_contracts.errors import CapabilityUnavailable, InvalidField
from eunoe_contracts.tenancy import Principal, Scope

from eunoe_gateway.access import require
from eunoe_gateway.application import Searcher
from eunoe_gateway.containers import Containers
from eunoe_gateway.dead_letters import DeadLetters
from eunoe_gateway.documents.acceptance import Acceptance
from eunoe_gateway.documents.direct_upload import DirectUpload
from eunoe_gateway.documents.erasure import Erasing
from eunoe_gateway.documents.messages import Messages
from eunoe_gateway.documents.reading import Reading
from eunoe_gateway.format_list import FormatList
from eunoe_gateway.keyed_locks import KeyedLocks
from eunoe_gateway.memories import Memories
from eunoe_gateway.publishing import Publisher
from eunoe_gateway.readiness import Readiness
from eunoe_gateway.relations import Relations
from eunoe_gateway.tokens import Tokens


class Gateway:
    """See `Application`; made by `wiring.build_application`. `locks` are held, by document, while one is accepted."""

    def __init__(
        self,
        *,
        acceptance: Acceptance,
        direct: DirectUpload,
        messages: Messages,
        reading: Reading,
        erasing: Erasing,
        memories: Memories,
        relations: Relations,
        containers: Containers,
        dead_letters: DeadLetters,
        tokens: Tokens,
        formats: FormatList,
        readiness: Readiness,
        searcher: Searcher,
        publisher: Publisher,
        locks: KeyedLocks[UUID],
    ) -> None:
        self.locks = locks
        self._publisher = publisher
        self._searcher = searcher
        self.authenticate = tokens.authenticate
        self.ingest = acceptance.ingest
        self.upload = acceptance.upload
        self.begin_upload = direct.begin
        self.commit_upload = direct.commit
        self.add_messages = messages.add
        self.get_document = reading.get
        self.document_text = reading.text
        self.document_content = reading.content
        self.list_documents = reading.list
        self.watch_document = reading.watch
        self.cancel_document = erasing.cancel_document
        self.delete_document = erasing.delete_document
        self.delete_container = erasing.delete_container
        self.get_memory = memories.get
        self.list_memories = memories.list
        self.list_removed_memories = memories.list_removed
        self.update_memory = memories.update
        self.delete_memory = memories.delete
        self.related = relations.related
        self.profile = relations.profile
        self.list_containers = containers.list
        self.stats = containers.stats
        self.dead_letters = dead_letters.list
        self.replay = dead_letters.replay
        self.create_token = tokens.create
        self.tokens = tokens.list
        self.revoke_token = tokens.revoke
        self.list_formats = formats.list
        self.readiness = readiness.check

    async def ingest_url(self, who: Principal, request: ingest_pb2.IngestUrlRequest) -> ingest_pb2.IngestUrlResponse:
        """See `Application.ingest_url`."""
        require(who, Scope.INGEST)
        if not request.url:
            raise InvalidField("url: must not be empty")
        raise CapabilityUnavailable("Fetching URLs is not part of this build yet; send the content itself.")

    async def search(self, who: Principal, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        """See `Application.search`."""
        return await self._searcher.search(require(who, Scope.SEARCH), request)

    async def explain(self, who: Principal, request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        """See `Application.explain`."""
        return await self._searcher.explain(require(who, Scope.SEARCH), request)

    async def drain(self) -> None:
        """Return when no publication of an answered call is under way. Call on stop, before the log closes."""
        await self._publisher.drain()
