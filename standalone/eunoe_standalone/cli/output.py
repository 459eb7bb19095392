"""What commands print: people read stderr and tables, scripts read `--json` on stdout. Exit codes: 0 ok, 1 some item failed,
2 usage, 3 server or dependency unavailable, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, NoReturn, cast

import grpc
import typer
from eunoe_contracts.errors import EunoeError, GrpcStatus, ModelMismatch, RequestError
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.rpc import error_details_pb2
from grpc_status import rpc_status

PIPE_WIDTH = 200


class Exit(IntEnum):
    """Exit codes of every command."""

    OK = 0
    SOME_FAILED = 1
    USAGE = 2
    UNAVAILABLE = 3
    STOPPED = 130


def as_dict(message: Message) -> dict[str, Any]:
    """A message as JSON values with the names of the schema, defaults included; 64-bit integers as numbers, as scripts expect."""
    found: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _with_numbers(cast("Descriptor", message.DESCRIPTOR), found)


def _with_numbers(kind: Descriptor, values: dict[str, Any]) -> dict[str, Any]:
    """The JSON mapping of protobuf writes 64-bit integers as strings; ours are counts and sizes, which fit a number."""
    return {name: _number(kind.fields_by_name[name], value) for name, value in values.items()}


def _number(field: FieldDescriptor, value: Any) -> Any:
    nested = field.message_type
    if field.cpp_type in {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}:
        return [int(each) for each in value] if isinstance(value, list) else int(value)
    if nested is None:
        return value
    if nested.full_name == "google.protobuf.Struct":
        return _whole(value)
    if nested.file.package.startswith("google.protobuf"):
        return value
    if nested.GetOptions().map_entry:
        return {name: _number(nested.fields_by_name["value"], each) for name, each in value.items()}
    return [_with_numbers(nested, each) for each in value] if isinstance(value, list) else _with_numbers(nested, value)


def struct_values(struct: Struct) -> dict[str, Any]:
    """A Struct as a dict; protobuf knows only floats, so whole numbers become integers again."""
    return {name: _whole(value) for name, value in MessageToDict(struct).items()}


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    return value


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))  # noqa: T201 - this is the command's output


def say(text: str) -> None:
    """A line for people, on stderr, so that stdout stays clean for scripts."""
    typer.echo(text, err=True)


def fail(message: str, code: Exit) -> NoReturn:
    """End with a message."""
    say(f"eunoe: {message}")
    raise typer.Exit(code)


USAGE_STATUS = frozenset(
    {
        GrpcStatus.INVALID_ARGUMENT,
        GrpcStatus.NOT_FOUND,
        GrpcStatus.ALREADY_EXISTS,
        GrpcStatus.FAILED_PRECONDITION,
        GrpcStatus.PERMISSION_DENIED,
        GrpcStatus.UNAUTHENTICATED,
        GrpcStatus.UNIMPLEMENTED,
    }
)


def rpc_failure(error: grpc.RpcError) -> tuple[str, Exit]:
    """The message of a failed call and the exit code it means."""
    status, details = error.code(), error.details() or "no details"
    if status is grpc.StatusCode.UNAVAILABLE:
        return f"the server cannot serve this now: {details}", Exit.UNAVAILABLE
    code = Exit.USAGE if status.value[0] in set(USAGE_STATUS) else Exit.UNAVAILABLE
    return details, code


def stable_code(error: grpc.RpcError) -> str:
    """Our code of a failed call (docs/reference/errors.md); the name of the gRPC status when the failure is not ours."""
    status = rpc_status.from_call(error)
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info) and info.reason:
            return str(info.reason)
    return str(error.code().name.lower())


@contextmanager
def reported_errors() -> Iterator[None]:
    """Turn our errors and failed calls into a message and an exit code; everything else is a defect and keeps its traceback."""
    try:
        yield
    except grpc.RpcError as error:
        message, code = rpc_failure(error)
        fail(message, code)
    except ModelMismatch as error:
        fail(error.message, Exit.UNAVAILABLE)
    except RequestError as error:
        fail(error.message, Exit.USAGE)
    except EunoeError as error:
        fail(error.message, Exit.UNAVAILABLE)
    except KeyboardInterrupt:
        fail("stopped", Exit.STOPPED)
    except BrokenPipeError:
        sys.stderr.close()
        raise typer.Exit(Exit.OK) from None


def confirmed(question: str) -> bool:
    """Ask on stderr; no answer, as in a script, is a no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        say("")
        return False


def table(columns: list[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people on stdout. Nothing is cut off: ids and names are there to be copied."""
    from rich.console import Console
    from rich.table import Column, Table

    shown = Table(*[Column(name, overflow="fold", no_wrap=at == 0) for at, name in enumerate(columns)])
    for row in rows:
        shown.add_row(*row)
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(shown)
