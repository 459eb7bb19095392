"""Our errors on a gRPC call between processes: to a status with the stable code in `google.rpc.ErrorInfo`, and back."""

from __future__ import annotations

from typing import Any, NoReturn

import grpc
from eunoe_contracts.errors import EunoeError, error_type
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

DOMAIN = "eunoe"


async def abort(context: grpc.aio.ServicerContext[Any, Any], error: EunoeError) -> NoReturn:
    """End the call with this error."""
    details = [_packed(error_details_pb2.ErrorInfo(reason=error.code, domain=DOMAIN))]
    if error.retry_after_s is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(round(error.retry_after_s * 1000))
        details.append(_packed(error_details_pb2.RetryInfo(retry_delay=delay)))
    status = status_pb2.Status(code=int(error.grpc_status), message=error.message, details=details)
    await context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises") from error


def told_by(error: grpc.aio.AioRpcError) -> EunoeError | None:
    """The error that the other process raised, as a class of our tree; None when the call failed by itself."""
    status = rpc_status.from_call(error)
    reason, retry_after_s = "", None
    for each in status.details if status is not None else ():
        info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        if each.Unpack(info) and info.domain == DOMAIN:
            reason = info.reason
        elif each.Unpack(retry):
            retry_after_s = retry.retry_delay.ToMilliseconds() / 1000
    if status is None or not reason:
        return None
    return error_type(reason)(status.message, retry_after_s=retry_after_s)


def _packed(message: Any) -> any_pb2.Any:
    detail = any_pb2.Any()
    detail.Pack(message)
    return detail
