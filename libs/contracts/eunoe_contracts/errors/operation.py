"""Errors of dependencies, capabilities and set-up."""

from __future__ import annotations

from eunoe_contracts.errors.root import EunoeError, GrpcStatus


class TransientError(EunoeError):
    """A dependency failed; the work is tried again."""

    code = "transient_error"
    retryable = True
    http_status = 503
    grpc_status = GrpcStatus.UNAVAILABLE


class StoreUnavailable(TransientError):
    """A store did not answer."""

    code = "store_unavailable"
    is_outage = True


class ModelUnavailable(TransientError):
    """A model did not answer."""

    code = "model_unavailable"
    is_outage = True


class StageBusy(TransientError):
    """Another worker holds this piece of work."""

    code = "stage_busy"


class DeadlineExceeded(TransientError):
    """The work did not finish within its deadline."""

    code = "deadline_exceeded"
    http_status = 504
    grpc_status = GrpcStatus.DEADLINE_EXCEEDED


class WorkContinues(DeadlineExceeded):
    """The deadline came while the work went forward; it goes on where it stopped."""

    code = "work_continues"


class ReadBackFailed(TransientError):
    """A stored object was not found when read back."""

    code = "read_back_failed"


class StorageFull(TransientError):
    """The disk is full; new work is refused until there is space, search goes on."""

    code = "storage_full"
    is_outage = True
    http_status = 507
    grpc_status = GrpcStatus.RESOURCE_EXHAUSTED


class WorkerUnavailable(TransientError):
    """No parser process could be started."""

    code = "worker_unavailable"
    is_outage = True


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
