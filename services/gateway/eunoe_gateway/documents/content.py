"""What a content is: by its bytes, checked against its name and its declared type."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from eunoe_contracts.errors import EmptyContent, InvalidEncoding, UnsupportedFormat
from eunoe_contracts.formats import BY_ID, FORMATS, Format, by_media_type, by_name
from eunoe_safety.sniffer import sniff, sniff_path
from eunoe_stores.blobs.port import BlobStore, StagedBlob

from eunoe_gateway.documents.submission import Submission

GENERIC = frozenset({"", "application/octet-stream", "binary/octet-stream", "file"})
"""Declared types that say nothing."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The format that a content has, and what the caller should know about it."""

    format_id: str
    media_type: str
    warnings: tuple[str, ...] = ()


def supported() -> str:
    """The formats, for messages."""
    return ", ".join(each.id for each in FORMATS)


def declared_format(content_type: str) -> Format | None:
    """The format that a declared type names, by id or media type; None when it says nothing. Raises `UnsupportedFormat`."""
    if content_type in GENERIC:
        return None
    found = BY_ID.get(content_type) or by_media_type(content_type)
    if found is None:
        raise UnsupportedFormat(f"content_type '{content_type}' is not supported; supported are {supported()}.")
    return found


def text_bytes(text: str) -> bytes:
    """The text as UTF-8. Raises `EmptyContent` for white space only, `InvalidEncoding` for NUL and lone surrogates."""
    if not text.strip():
        raise EmptyContent
    if "\0" in text:
        raise InvalidEncoding("The content has a NUL character; upload binary content as a file.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidEncoding("The content has characters that are not valid Unicode.") from error


def recognise_text(submission: Submission) -> Recognised:
    """The format of a text sent as text: as declared, else as its name suggests, else plain text."""
    declared = declared_format(submission.content_type)
    if declared is not None and not declared.textual:
        raise UnsupportedFormat(f"content_type '{declared.id}' is not text; upload the file instead.")
    named = by_name(submission.name)
    found = declared or (named if named is not None and named.textual else BY_ID["text"])
    return Recognised(found.id, found.media_types[0])


def recognise_kept(submission: Submission) -> Recognised | None:
    """The format of a text that was accepted before, elsewhere: between kinds of text that acceptance decided, as bytes cannot.
    None for what is no text, which shows what it is.
    """
    found = BY_ID.get(submission.content_type)
    return Recognised(found.id, found.media_types[0]) if found is not None and found.textual else None


async def recognise_file(tenant: str, submission: Submission, staged: StagedBlob, *, blobs: BlobStore) -> Recognised:
    """The format of a staged file. Raises `UnsupportedFormat` saying what was found and what is supported, `CorruptDocument`
    for a container that cannot be listed, `EncryptedDocument` for an Office file with a password.
    """
    known = BY_ID.get(submission.content_type)
    declared = known.media_types[0] if known is not None else submission.content_type
    found = sniff(staged.head, name=submission.name, declared=declared)
    if found.full_look:
        async with blobs.staged_file(tenant, staged.upload_id) as path:
            found = await asyncio.to_thread(sniff_path, path, name=submission.name, declared=declared)
    format_id = found.require()
    return Recognised(format_id, found.media_type, (found.warning,) if found.warning else ())
