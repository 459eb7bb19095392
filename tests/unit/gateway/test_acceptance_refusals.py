"""Contents and fields that are refused, with nothing left of them."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

import pytest
from eunoe_contracts.errors import (
    CapabilityUnavailable,
    ChecksumMismatch,
    CorruptDocument,
    EmptyContent,
    EmptyFile,
    InvalidEncoding,
    InvalidField,
    PayloadTooLarge,
    UnsupportedFormat,
)
from eunoe_gateway.protobuf import struct


def docx() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
    return made.getvalue()


def no_docx() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "word/ is in the head")
    return made.getvalue()


@pytest.mark.parametrize(
    ("text", "error"),
    [("", EmptyContent), (" \n\t", EmptyContent), ("a\0b", InvalidEncoding), ("x" * 100_001, PayloadTooLarge)],
)
async def test_texts_that_are_refused(world: Any, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        await world.post(text)
    assert await world.nothing_left()


@pytest.mark.parametrize(
    ("info", "error", "named"),
    [
        ({"content_type": "spreadsheet"}, UnsupportedFormat, "spreadsheet"),
        ({"content_type": "pdf"}, UnsupportedFormat, "upload"),
        ({"content_type": "url"}, CapabilityUnavailable, "not part of this build"),
        ({"container": "a..b"}, InvalidField, "container"),
        ({"container": "a*"}, InvalidField, "container"),
        ({"name": "a\nb"}, InvalidField, "name"),
        ({"custom_id": "x" * 1025}, InvalidField, "custom_id"),
        ({"idempotency_key": "x" * 257}, InvalidField, "idempotency_key"),
        ({"tags": ["x"] * 1 + [f"t{n}" for n in range(64)]}, InvalidField, "tags"),
        ({"tags": ["x" * 257]}, InvalidField, "tags"),
        ({"tags": [" "]}, InvalidField, "tags"),
        ({"metadata": struct({"x": "y" * 70_000})}, InvalidField, "metadata"),
    ],
)
async def test_fields_that_are_refused(world: Any, info: dict[str, Any], error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        await world.post("x", **info)
    assert await world.nothing_left()


@pytest.mark.parametrize(
    ("data", "name", "error", "named"),
    [
        (b"", "empty.pdf", EmptyFile, "no bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a.png", UnsupportedFormat, "png"),
        (bytes(range(256)) * 10, "a.bin", UnsupportedFormat, "Supported|supported"),
        (b"x" * 1_000_001, "big.txt", PayloadTooLarge, "."),
        (no_docx(), "a.docx", UnsupportedFormat, "zip"),
        (docx()[:-30], "cut.docx", CorruptDocument, "damaged"),
    ],
)
async def test_files_that_are_refused(world: Any, data: bytes, name: str, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        await world.upload(data, name=name)
    assert await world.nothing_left()


async def test_the_bytes_decide_the_format(world: Any) -> None:
    assert (await world.upload(docx(), name="a.docx")).content_type == "docx"
    mislabelled = await world.upload(b"%PDF-1.7\n1 0 obj\n", name="really.txt")
    assert mislabelled.content_type == "pdf"
    assert "txt" in mislabelled.warnings[0] or "text" in mislabelled.warnings[0]
    assert (await world.row(mislabelled.id)).warnings == tuple(mislabelled.warnings)
    declared = await world.upload(b"# Title\n", name="", content_type="markdown")
    assert (declared.content_type, list(declared.warnings)) == ("markdown", [])


async def test_declared_size_and_checksum_are_checked(world: Any) -> None:
    data = b"some text"
    with pytest.raises(ChecksumMismatch, match="9 bytes"):
        await world.upload(data, size=10)
    with pytest.raises(ChecksumMismatch, match="SHA-256"):
        await world.upload(data, sha256="0" * 64)
    assert await world.nothing_left()
    assert (await world.upload(data, size=9, sha256=hashlib.sha256(data).hexdigest().upper())).content_type == "text"
