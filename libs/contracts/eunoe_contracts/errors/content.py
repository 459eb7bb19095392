"""Errors of a document or a record: permanent, dead-lettered at once."""

from __future__ import annotations

from eunoe_contracts.errors.root import EunoeError, GrpcStatus


class ContentError(EunoeError):
    """The document cannot be processed as it is."""

    code = "content_error"
    http_status = 422
    grpc_status = GrpcStatus.FAILED_PRECONDITION


class EmptyFile(ContentError):
    """The file has no bytes."""

    code = "empty_file"
    http_status = 400
    grpc_status = GrpcStatus.INVALID_ARGUMENT


class EmptyExtraction(ContentError):
    """Reading the document succeeded, but there is no text in it."""

    code = "empty_extraction"


class LowTextQuality(ContentError):
    """The text that came out is mostly unreadable characters."""

    code = "low_text_quality"


class NotEmbeddable(ContentError):
    """The embedding model gives no vector for one of the document's texts, though it gives one for others."""

    code = "not_embeddable"


class CorruptDocument(ContentError):
    """The file is damaged or cut off and cannot be read."""

    code = "corrupt_document"


class EncryptedDocument(ContentError):
    """The file is protected by a password; remove the protection and send it again."""

    code = "encrypted_document"


class FormatMismatch(ContentError):
    """The bytes are of another format than the one accepted."""

    code = "format_mismatch"


class BudgetExceeded(ContentError):
    """The document expands beyond the limits of this server."""

    code = "budget_exceeded"


class ParserTimeout(ContentError):
    """Reading the document took longer than allowed and was stopped."""

    code = "parser_timeout"


class ParserMemoryExceeded(ContentError):
    """Reading the document needed more memory than allowed and was stopped."""

    code = "parser_memory_exceeded"


class ParserCrashed(ContentError):
    """The parser ended unexpectedly on this document."""

    code = "parser_crashed"


class PoisonEvent(EunoeError):
    """A record of the log cannot be read."""

    code = "poison_event"


class MalformedEvent(PoisonEvent):
    """A record of the log is not a valid event."""

    code = "malformed_event"


class UnknownEventVersion(PoisonEvent):
    """A record of the log has a version that this program does not know; upgrade it, then replay."""

    code = "unknown_event_version"
