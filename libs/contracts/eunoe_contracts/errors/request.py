"""Errors that the caller can mend by changing the request."""

from __future__ import annotations

from eunoe_contracts.errors.root import EunoeError, GrpcStatus


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


class DocumentErased(Conflict):
    """This document was erased here, so an import leaves it out; to have it again all the same, post it."""

    code = "document_erased"


class DirectUploadUnavailable(Conflict):
    """The blob store of this server takes no direct uploads; send the file through the server (Upload, POST /v1/documents/upload)."""

    code = "direct_upload_unavailable"


class UploadNotFound(NotFound):
    """There is nothing under that upload id: it was never sent, or too long ago; begin the upload again."""

    code = "upload_not_found"


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
