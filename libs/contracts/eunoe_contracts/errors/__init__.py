"""Every error eunoe can name. Retry or dead letter, HTTP and gRPC status are decided by the type, here and nowhere else.

EunoeError
├── RequestError                 the caller must change the request
│   ├── InvalidRequest           400  EmptyContent, InvalidEncoding, ChecksumMismatch, ConfirmationRequired, ForbiddenOrigin (403)
│   ├── InvalidField             422  UnknownField, UnknownFilter
│   ├── Unauthenticated          401
│   ├── PermissionDenied         403
│   ├── NotFound                 404  DocumentNotFound, MemoryNotFound, ContainerNotFound, DeadLetterNotFound, TokenNotFound, UploadNotFound
│   ├── Conflict                 409  IdempotencyConflict, StaleGeneration, ModelMismatch, DocumentErased, DirectUploadUnavailable
│   ├── PayloadTooLarge          413
│   ├── UnsupportedFormat        415  UnsupportedContentType
│   └── ResourceExhausted        429  QueueFull
├── ContentError                 permanent: this document will never succeed as it is
│   ├── EmptyFile, EmptyExtraction, LowTextQuality, NotEmbeddable, CorruptDocument, EncryptedDocument
│   ├── FormatMismatch, BudgetExceeded
│   └── ParserTimeout, ParserMemoryExceeded, ParserCrashed
├── PoisonEvent                  permanent: this record can never be read  (MalformedEvent, UnknownEventVersion)
├── TransientError               retryable: later it may work
│   └── StoreUnavailable, ModelUnavailable, StageBusy, DeadlineExceeded (WorkContinues), ReadBackFailed, StorageFull, WorkerUnavailable
├── CapabilityUnavailable        503, not retryable until an operator acts
├── SetupError                   refused at start: ConfigurationError, DataDirectoryLocked, SchemaTooNew, ModelMissing
└── InternalError                500, a defect: dead-lettered after the retries of a transient error

The first sentence of each docstring is the default message. Messages never carry content or another tenant's ids.
"""

from __future__ import annotations

from collections.abc import Iterator

from eunoe_contracts.errors.content import (
    BudgetExceeded,
    ContentError,
    CorruptDocument,
    EmptyExtraction,
    EmptyFile,
    EncryptedDocument,
    FormatMismatch,
    LowTextQuality,
    MalformedEvent,
    NotEmbeddable,
    ParserCrashed,
    ParserMemoryExceeded,
    ParserTimeout,
    PoisonEvent,
    UnknownEventVersion,
)
from eunoe_contracts.errors.operation import (
    CapabilityUnavailable,
    ConfigurationError,
    DataDirectoryLocked,
    DeadlineExceeded,
    InternalError,
    ModelMissing,
    ModelUnavailable,
    ReadBackFailed,
    SchemaTooNew,
    SetupError,
    StageBusy,
    StorageFull,
    StoreUnavailable,
    TransientError,
    WorkContinues,
    WorkerUnavailable,
)
from eunoe_contracts.errors.request import (
    BlobNotFound,
    ChecksumMismatch,
    ConfirmationRequired,
    Conflict,
    ContainerNotFound,
    DeadLetterNotFound,
    DirectUploadUnavailable,
    DocumentErased,
    DocumentNotFound,
    EmptyContent,
    ForbiddenOrigin,
    IdempotencyConflict,
    InvalidEncoding,
    InvalidField,
    InvalidRequest,
    MemoryNotFound,
    ModelMismatch,
    NotFound,
    PayloadTooLarge,
    PermissionDenied,
    QueueFull,
    RequestError,
    ResourceExhausted,
    StaleGeneration,
    TokenNotFound,
    Unauthenticated,
    UnknownField,
    UnknownFilter,
    UnsupportedContentType,
    UnsupportedFormat,
    UploadNotFound,
)
from eunoe_contracts.errors.root import EunoeError, GrpcStatus

__all__ = [
    "BlobNotFound",
    "BudgetExceeded",
    "CapabilityUnavailable",
    "ChecksumMismatch",
    "ConfigurationError",
    "ConfirmationRequired",
    "Conflict",
    "ContainerNotFound",
    "ContentError",
    "CorruptDocument",
    "DataDirectoryLocked",
    "DeadLetterNotFound",
    "DeadlineExceeded",
    "DirectUploadUnavailable",
    "DocumentErased",
    "DocumentNotFound",
    "EmptyContent",
    "EmptyExtraction",
    "EmptyFile",
    "EncryptedDocument",
    "EunoeError",
    "ForbiddenOrigin",
    "FormatMismatch",
    "GrpcStatus",
    "IdempotencyConflict",
    "InternalError",
    "InvalidEncoding",
    "InvalidField",
    "InvalidRequest",
    "LowTextQuality",
    "MalformedEvent",
    "MemoryNotFound",
    "ModelMismatch",
    "ModelMissing",
    "ModelUnavailable",
    "NotEmbeddable",
    "NotFound",
    "ParserCrashed",
    "ParserMemoryExceeded",
    "ParserTimeout",
    "PayloadTooLarge",
    "PermissionDenied",
    "PoisonEvent",
    "QueueFull",
    "ReadBackFailed",
    "RequestError",
    "ResourceExhausted",
    "SchemaTooNew",
    "SetupError",
    "StageBusy",
    "StaleGeneration",
    "StorageFull",
    "StoreUnavailable",
    "TokenNotFound",
    "TransientError",
    "Unauthenticated",
    "UnknownEventVersion",
    "UnknownField",
    "UnknownFilter",
    "UnsupportedContentType",
    "UnsupportedFormat",
    "UploadNotFound",
    "WorkContinues",
    "WorkerUnavailable",
    "as_eunoe_error",
    "error_type",
    "error_types",
]


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
