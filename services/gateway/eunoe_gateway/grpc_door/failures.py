"""Errors as gRPC status: the message, `google.rpc.ErrorInfo` with the stable code, `RetryInfo` with the delay."""

from __future__ import annotations

from typing import Any, NoReturn

import grpc
from eunoe_contracts.errors import EunoeError
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

DOMAIN = "eunoe"
REQUEST_ID = "x-request-id"


def status_name(error: EunoeError) -> str:
    """Name of the gRPC status, for metrics."""
    return error.grpc_status.name


def details(error: EunoeError, request_id: str) -> list[any_pb2.Any]:
    """The details of an error."""
    info = error_details_pb2.ErrorInfo(reason=error.code, domain=DOMAIN, metadata={"request_id": request_id})
    messages: list[Any] = [info]
    if error.retry_after_s is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(round(error.retry_after_s * 1000))
        messages.append(error_details_pb2.RetryInfo(retry_delay=delay))
    packed = []
    for each in messages:
        detail = any_pb2.Any()
        detail.Pack(each)
        packed.append(detail)
    return packed


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: EunoeError, request_id: str) -> NoReturn:
    """End the call with this error."""
    status = rpc_status.to_status(status_pb2.Status(code=int(error.grpc_status), message=error.message, details=details(error, request_id)))
    trailing = (*status.trailing_metadata, (REQUEST_ID, request_id))
    await context.abort(status.code, status.details, trailing)
