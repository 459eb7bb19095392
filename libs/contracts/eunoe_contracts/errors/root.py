"""The root of the error tree."""

from __future__ import annotations

import inspect
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
    is_outage: ClassVar[bool] = False
    """True when the number of attempts says nothing about the item: something that it needs is away, for all items."""
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
