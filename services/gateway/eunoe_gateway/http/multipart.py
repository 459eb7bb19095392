"""A multipart body as a stream of parts (RFC 7578), so that a file never lies whole in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from eunoe_contracts.errors import InvalidEncoding, InvalidRequest, PayloadTooLarge, UnsupportedContentType
from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from eunoe_gateway.http.request_body import body_of

MAX_FIELDS_BYTES = 1024 * 1024
"""Of all fields together: they are held in memory."""
MAX_PARTS = 200
MAX_HEADER_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class FieldPart:
    """A form field."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class FileStart:
    """The head of a file part; its data follows as `FileData` until `FileEnd`."""

    name: str
    filename: str
    content_type: str


@dataclass(frozen=True, slots=True)
class FileData:
    """Some bytes of the file."""

    data: bytes


@dataclass(frozen=True, slots=True)
class FileEnd:
    """The file is complete."""


Part = FieldPart | FileStart | FileData | FileEnd


class _Collector:
    """Callbacks of the parser; turns them into parts."""

    def __init__(self) -> None:
        self.parts: deque[Part] = deque()
        self._header_name, self._header_value = b"", b""
        self._headers: dict[str, bytes] = {}
        self._field: list[bytes] | None = None
        self._name, self._count, self._size = "", 0, 0

    def on_part_begin(self) -> None:
        self._headers, self._count = {}, self._count + 1
        if self._count > MAX_PARTS:
            raise PayloadTooLarge(f"the form has more than {MAX_PARTS} parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._check_header()

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._check_header()

    def _check_header(self) -> None:
        if len(self._header_name) + len(self._header_value) > MAX_HEADER_BYTES:
            raise PayloadTooLarge("a header of the form is too long")

    def on_header_end(self) -> None:
        self._headers[self._header_name.decode("latin-1").lower()] = self._header_value
        self._header_name, self._header_value = b"", b""

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        self._name = decoded(options.get(b"name", b""))
        if not self._name:
            raise InvalidRequest("a part of the form has no name")
        if b"filename" in options:
            self._field = None
            content_type = self._headers.get("content-type", b"").decode("latin-1")
            self.parts.append(FileStart(self._name, file_name(decoded(options[b"filename"])), content_type))
        else:
            self._field = []

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._field is None:
            self.parts.append(FileData(data[start:end]))
            return
        self._size += end - start
        if self._size > MAX_FIELDS_BYTES:
            raise PayloadTooLarge(f"the fields of the form are larger than {MAX_FIELDS_BYTES} bytes")
        self._field.append(data[start:end])

    def on_part_end(self) -> None:
        self.parts.append(FileEnd() if self._field is None else FieldPart(self._name, decoded(b"".join(self._field))))


def decoded(value: bytes) -> str:
    """UTF-8 text; raises `InvalidEncoding`."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidEncoding("a form field is not valid UTF-8") from error


def file_name(text: str) -> str:
    """A file name as the HTML standard writes it into a form: three characters are percent-encoded."""
    return text.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


async def parts_of(request: Request) -> AsyncGenerator[Part, None]:
    """The parts in order. Raises `UnsupportedContentType`, `InvalidRequest` for a broken or unfinished form."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise UnsupportedContentType("send multipart/form-data with a part named 'file'")
    collector = _Collector()
    finished = False

    def on_end() -> None:
        nonlocal finished
        finished = True

    try:
        parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": collector.on_part_begin,
                "on_part_data": collector.on_part_data,
                "on_part_end": collector.on_part_end,
                "on_header_field": collector.on_header_field,
                "on_header_value": collector.on_header_value,
                "on_header_end": collector.on_header_end,
                "on_headers_finished": collector.on_headers_finished,
                "on_end": on_end,
            },
        )
        async for chunk in body_of(request):
            parser.write(chunk)
            while collector.parts:
                yield collector.parts.popleft()
        parser.finalize()
    except FormParserError as error:
        raise InvalidRequest("the multipart form is broken") from error
    if not finished:
        raise InvalidRequest("the multipart form ends before its closing boundary")
