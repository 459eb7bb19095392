"""Turns of a conversation: one document per turn, tied together by session and position in its metadata."""

from __future__ import annotations

from eunoe.v1 import ingest_pb2
from eunoe_contracts.errors import EmptyContent, InvalidField
from eunoe_contracts.tenancy import Principal, Scope
from google.protobuf.struct_pb2 import Struct

from eunoe_gateway import fields
from eunoe_gateway.access import require
from eunoe_gateway.documents.acceptance import Acceptance
from eunoe_gateway.protobuf import plain, struct


class Messages:
    """Accepts conversation turns."""

    def __init__(self, acceptance: Acceptance, *, max_messages: int) -> None:
        self._acceptance = acceptance
        self._max_messages = max_messages

    async def add(self, who: Principal, request: ingest_pb2.AddMessagesRequest) -> ingest_pb2.AddMessagesResponse:
        """Accept the turns in order. All are checked before the first is accepted; a repeated call accepts what is missing.

        A turn's `position` is its place in the call unless its metadata has one; a caller that sends a session in several
        calls gives positions, or keys, so that later turns follow earlier ones.
        """
        tenant = require(who, Scope.INGEST)
        if not request.messages:
            raise EmptyContent("There are no messages.")
        if len(request.messages) > self._max_messages:
            raise InvalidField(f"messages: at most {self._max_messages} in one call")
        session = fields.line(request.session_id, "session_id", limit=fields.MAX_KEY_LENGTH)
        if not session:
            raise InvalidField("session_id: must not be empty")
        infos = [self._info(request, each, session, number) for number, each in enumerate(request.messages)]
        submissions = [self._acceptance.checked(each) for each in infos]
        for number, each in enumerate(request.messages):
            if not each.text.strip():
                raise EmptyContent(f"messages[{number}]: the text is empty.")
        accepted = [
            await self._acceptance.accept_text(tenant, submission, each.text)
            for submission, each in zip(submissions, request.messages, strict=True)
        ]
        return ingest_pb2.AddMessagesResponse(acceptances=accepted)

    def _info(
        self, request: ingest_pb2.AddMessagesRequest, message: ingest_pb2.Message, session: str, number: int
    ) -> ingest_pb2.ContentInfo:
        metadata = plain(message.metadata) if message.HasField("metadata") else {}
        metadata["session"] = session
        metadata.setdefault("position", number)
        if message.speaker:
            metadata["speaker"] = message.speaker
        key = f"{request.idempotency_key}/{number}" if request.idempotency_key else ""
        info = ingest_pb2.ContentInfo(
            container=request.container,
            content_type="text",
            # The name is part of the id, so that "yes" said twice in a session is two turns.
            name=f"{session}#{metadata['position']}",
            metadata=_checked_struct(metadata),
            tags=request.tags,
            idempotency_key=key,
        )
        if message.HasField("sent_at"):
            info.event_time.CopyFrom(message.sent_at)
            metadata["date"] = fields.time(message.sent_at, "sent_at").date().isoformat()
            info.metadata.CopyFrom(_checked_struct(metadata))
        return info


def _checked_struct(metadata: dict[str, object]) -> Struct:
    position = metadata["position"]
    if not isinstance(position, int) or isinstance(position, bool):
        raise InvalidField("messages: metadata.position must be a whole number")
    return struct(metadata)
