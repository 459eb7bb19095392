"""Every error eunoe can name. Retry or dead letter, HTTP and gRPC status are decided by the type, here and nowhere else.

EunoeError
├── RequestError                 the caller must change the request
│   ├── InvalidRequest           400  EmptyContent, InvalidEncoding, ChecksumMismatch, ConfirmationRequired, ForbiddenOrigin (403)
│   ├── InvalidField             422  UnknownField, UnknownFilter
│   ├── Unauthenticated          401
│   ├── PermissionDenied         403
│   ├── NotFound                 404  DocumentNotFound, MemoryNotFound, ContainerNotFound, DeadLetterNotFound, TokenNotFound
│   ├── Conflict                 409  IdempotencyConflict, StaleGeneration, ModelMismatch
│   ├── PayloadTooLarge          413
│   ├── UnsupportedFormat        415  UnsupportedContentType
│   └── ResourceExhausted        429  QueueFull
├── ContentError                 permanent: this document will never succeed as it is
│   ├── EmptyFile, EmptyExtraction, LowTextQuality, CorruptDocument, EncryptedDocument
│   ├── FormatMismatch, BudgetExceeded
│   └── ParserTimeout, ParserMemoryExceeded, ParserCrashed
├── PoisonEvent                  permanent: this record can never be read  (MalformedEvent, UnknownEventVersion)
├── TransientError               retryable: later it may work
│   └── StoreUnavailable, ModelUnavailable, StageBusy, DeadlineExceeded, ReadBackFailed, StorageFull, WorkerUnavailable
├── CapabilityUnavailable        503, not retryable until an operator acts
├── SetupError                   refused at start: ConfigurationError, DataDirectoryLocked, SchemaTooNew, ModelMissing
└── InternalError                500, a defect: dead-lettered after the retries of a transient error

The first sentence of each docstring is the default message. Messages never carry content or another tenant's ids.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import IntEnum
from typing import ClassVar


class GrpcStatus(IntEnum):
    """Status numbers of gRPC (https://grpc.io/docs/guides/status-codes/), kept here so that this module needs no gRPC."""

    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


class EunoeError(Exception):
    """Something went wrong in eunoe."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    http_status: ClassVar[int] = 500
    grpc_status: ClassVar[GrpcStatus] = GrpcStatus.INTERNAL

    def __init__(self, message: str | None = None, *, retry_after_s: float | None = None) -> None:
        self.message = message or self.default_message()
        self.retry_after_s = retry_after_s
        super().__init__(self.message)

    @classmethod
    def default_message(cls) -> str:
        """The first sentence of the class docstring."""
        return inspect.cleandoc(cls.__doc__ or "").split("\n")[0]


class RequestError(EunoeError):
    """The request cannot be served as it is; change it and send it again."""

    code = "request_error"
    http_status = 400
    grpc_status = GrpcStatus.INVALID_ARGUMENT


class InvalidRequest(RequestError):
    """The request is not valid."""

    code = "invalid_request"


class EmptyContent(InvalidRequest):
    """The content is empty; send at least one character or byte."""

    code = "empty_content"


class InvalidEncoding(InvalidRequest):
    """The body is not valid UTF-8; send UTF-8, or upload the bytes as a file."""

    code = "invalid_encoding"


class ChecksumMismatch(InvalidRequest):
    """The bytes received do not match the declared size or SHA-256; send them again."""

    code = "checksum_mismatch"


class ConfirmationRequired(InvalidRequest):
    """This removes data; repeat the request with confirm=true."""

    code = "confirmation_required"


class ForbiddenOrigin(RequestError):
    """The request comes from another web site or names another host; eunoe answers only its own addresses."""

    code = "forbidden_origin"
    http_status = 403
    grpc_status = GrpcStatus.PERMISSION_DENIED


class InvalidField(RequestError):
    """A field has a value that is not allowed."""

    code = "invalid_field"
    http_status = 422


class UnknownField(InvalidField):
    """A field is not known; see the API reference for the names."""

    code = "unknown_field"


class UnknownFilter(InvalidField):
    """A search filter is not known; see the API reference for the names."""

    code = "unknown_filter"


class Unauthenticated(RequestError):
    """A valid API token is required."""

    code = "unauthenticated"
    http_status = 401
    grpc_status = GrpcStatus.UNAUTHENTICATED


class PermissionDenied(RequestError):
    """This token does not have the scope that the call needs."""

    code = "permission_denied"
    http_status = 403
    grpc_status = GrpcStatus.PERMISSION_DENIED


class NotFound(RequestError):
    """There is nothing with that id."""

    code = "not_found"
    http_status = 404
    grpc_status = GrpcStatus.NOT_FOUND


class DocumentNotFound(NotFound):
    """There is no document with that id."""

    code = "document_not_found"


class MemoryNotFound(NotFound):
    """There is no memory with that id."""

    code = "memory_not_found"


class ContainerNotFound(NotFound):
    """There is no container with that name."""

    code = "container_not_found"


class DeadLetterNotFound(NotFound):
    """There is no dead letter with that id."""

    code = "dead_letter_not_found"


class TokenNotFound(NotFound):
    """There is no API token with that id."""

    code = "token_not_found"


class BlobNotFound(NotFound):
    """The stored bytes are not there."""

    code = "blob_not_found"


class Conflict(RequestError):
    """The request conflicts with the stored state."""

    code = "conflict"
    http_status = 409
    grpc_status = GrpcStatus.FAILED_PRECONDITION


class IdempotencyConflict(Conflict):
    """This idempotency key was used with another body; use a new key."""

    code = "idempotency_conflict"
    grpc_status = GrpcStatus.ALREADY_EXISTS


class StaleGeneration(Conflict):
    """A newer version of this document exists; nothing was changed."""

    code = "stale_generation"


class ModelMismatch(Conflict):
    """The index holds vectors of another embedding model; configure that model, or rebuild with `eunoe doctor --rebuild`."""

    code = "model_mismatch"


class PayloadTooLarge(RequestError):
    """The body is larger than this server accepts."""

    code = "payload_too_large"
    http_status = 413
    grpc_status = GrpcStatus.INVALID_ARGUMENT


class UnsupportedFormat(RequestError):
    """This type of content is not supported."""

    code = "unsupported_format"
    http_status = 415


class UnsupportedContentType(UnsupportedFormat):
    """The Content-Type of the request is not supported by this route."""

    code = "unsupported_content_type"


class ResourceExhausted(RequestError):
    """The server is at a limit; try again after the given delay."""

    code = "resource_exhausted"
    http_status = 429
    grpc_status = GrpcStatus.RESOURCE_EXHAUSTED


class QueueFull(ResourceExhausted):
    """Too many documents are waiting; try again after the given delay."""

    code = "queue_full"


class ContentError(EunoeError):
    """The document cannot be processed as it is."""

    code = "content_error"
    http_status = 422
    grpc_status = GrpcStatus.FAILED_PRECONDITION


class EmptyFile(ContentError):
    """The file has no bytes."""

    code = "empty_file"


class EmptyExtraction(ContentError):
    """Reading the document succeeded, but there is no text in it."""

    code = "empty_extraction"


class LowTextQuality(ContentError):
    """The text that came out is mostly unreadable characters."""

    code = "low_text_quality"


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


class TransientError(EunoeError):
    """A dependency failed; the work is tried again."""

    code = "transient_error"
    retryable = True
    http_status = 503
    grpc_status = GrpcStatus.UNAVAILABLE


class StoreUnavailable(TransientError):
    """A store did not answer."""

    code = "store_unavailable"


class ModelUnavailable(TransientError):
    """A model did not answer."""

    code = "model_unavailable"


class StageBusy(TransientError):
    """Another worker holds this piece of work."""

    code = "stage_busy"


class DeadlineExceeded(TransientError):
    """The work did not finish within its deadline."""

    code = "deadline_exceeded"
    http_status = 504
    grpc_status = GrpcStatus.DEADLINE_EXCEEDED


class ReadBackFailed(TransientError):
    """A stored object was not found when read back."""

    code = "read_back_failed"


class StorageFull(TransientError):
    """The disk is full; new work is refused until there is space, search goes on."""

    code = "storage_full"
    http_status = 507
    grpc_status = GrpcStatus.RESOURCE_EXHAUSTED


class WorkerUnavailable(TransientError):
    """No parser process could be started."""

    code = "worker_unavailable"


class CapabilityUnavailable(EunoeError):
    """This server lacks what the request needs; see `eunoe doctor`."""

    code = "capability_unavailable"
    http_status = 503
    grpc_status = GrpcStatus.UNIMPLEMENTED


class SetupError(EunoeError):
    """eunoe cannot start like this."""

    code = "setup_error"
    http_status = 503
    grpc_status = GrpcStatus.FAILED_PRECONDITION


class ConfigurationError(SetupError):
    """A setting is not valid."""

    code = "configuration_error"


class DataDirectoryLocked(SetupError):
    """Another eunoe process is using this data directory."""

    code = "data_directory_locked"


class SchemaTooNew(SetupError):
    """The data was written by a newer eunoe; install that version or newer."""

    code = "schema_too_new"


class ModelMissing(SetupError):
    """The model files are not there; run `eunoe models pull`."""

    code = "model_missing"


class InternalError(EunoeError):
    """An unexpected failure; the log names it under the request id."""

    code = "internal_error"
    retryable = True


def error_types() -> Iterator[type[EunoeError]]:
    """Every class of the tree, root first."""
    todo: list[type[EunoeError]] = [EunoeError]
    while todo:
        current = todo.pop(0)
        yield current
        todo.extend(current.__subclasses__())


def error_type(code: str) -> type[EunoeError]:
    """The class with that code; `InternalError` for a code this version does not know."""
    return next((each for each in error_types() if each.code == code), InternalError)


def as_eunoe_error(error: BaseException) -> EunoeError:
    """The error itself when it is one of ours, else an `InternalError` that names only the type (never the content)."""
    if isinstance(error, EunoeError):
        return error
    if isinstance(error, TimeoutError):
        return DeadlineExceeded()
    if isinstance(error, OSError) and error.errno == 28:  # ENOSPC  # noqa: PLR2004
        return StorageFull()
    return InternalError(f"unexpected {type(error).__name__}")
