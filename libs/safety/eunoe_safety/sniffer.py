"""What a file is, decided by its bytes. The name and the declared type only choose between kinds of text and are checked otherwise."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import filetype
import olefile
from eunoe_contracts import formats
from eunoe_contracts.errors import CorruptDocument, EmptyFile, EncryptedDocument, UnsupportedFormat

from eunoe_safety import text_kinds

HEAD_BYTES = 64 * 1024
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
PDF_MARK, PDF_WITHIN = b"%PDF-", 1024
GENERIC = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-www-form-urlencoded"})
OPEN_XML = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
MIMETYPE_MEMBER = {
    "application/epub+zip": "epub",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
}
OLE_STREAMS = {
    "WordDocument": "doc",
    "Workbook": "xls",
    "Book": "xls",
    "PowerPoint Document": "ppt",
    "__properties_version1.0": "msg",
}
SUPPORTED = ", ".join(each.id for each in formats.FORMATS)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What the bytes are. `format_id` is None when eunoe cannot read them; `reason` then says what they are and what would do.

    `warning` names a mismatch with the name or the declared type. `full_look` asks for `sniff_path` once the whole file is there.
    """

    format_id: str | None
    media_type: str
    warning: str = ""
    reason: str = ""
    full_look: bool = False

    def require(self) -> str:
        """The format id. Raises `UnsupportedFormat` with the reason when there is none."""
        if self.format_id is None:
            raise UnsupportedFormat(self.reason)
        return self.format_id


def sniff(head: bytes, *, name: str = "", declared: str = "") -> Sniffed:
    """Decide by the first 64 KiB. Pure. Raises `EmptyFile` when there are no bytes.

    Zip and OLE containers cannot be decided by their head; for them the answer is what the head and the name suggest.
    """
    if not head:
        raise EmptyFile
    found = _binary(head, name) or _text(head, name, declared)
    return _compared(found, name, declared)


def sniff_path(path: Path, *, name: str = "", declared: str = "") -> Sniffed:
    """Decide by the whole file, with the members of zip and OLE containers. Raises `EmptyFile`, `CorruptDocument` for a container
    that cannot be listed, `EncryptedDocument` for an Office file with a password, `OSError` when the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    found = sniff(head, name=name, declared=declared)
    if not found.full_look:
        return found
    return _compared(_of(sniff_zip(path) if head.startswith(ZIP) else sniff_ole(path)), name, declared)


def sniff_zip(path: Path) -> str:
    """The kind of a zip container by its members: `docx`, `xlsx`, `pptx`, `epub`, `odt` ..., else `zip`. Raises `CorruptDocument`."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            kind = archive.open("mimetype").read(100).decode("ascii", "replace") if "mimetype" in names else ""
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError, ValueError) as error:
        raise CorruptDocument("the file is a zip container that is damaged or cut off") from error
    if kind:
        return MIMETYPE_MEMBER.get(kind.strip(), "zip")
    if "[Content_Types].xml" in names:
        return next((kind for prefix, kind in OPEN_XML.items() if any(each.startswith(prefix) for each in names)), "zip")
    return "zip"


def sniff_ole(path: Path) -> str:
    """The kind of an OLE container by its streams: `doc`, `xls`, `ppt`, `msg`, else `ole`. Raises `EncryptedDocument` for an Office
    file with a password, `CorruptDocument`.
    """
    try:
        with olefile.OleFileIO(str(path)) as container:
            streams = {each[0] for each in container.listdir()}
    except (OSError, ValueError, IndexError, RecursionError) as error:  # the last for a directory that holds itself
        raise CorruptDocument("the file is an Office container that is damaged or cut off") from error
    if "EncryptedPackage" in streams:
        raise EncryptedDocument
    return next((kind for stream, kind in OLE_STREAMS.items() if stream in streams), "ole")


def _binary(head: bytes, name: str) -> Sniffed | None:
    """What binary signatures say; None when the bytes may be text."""
    if head.startswith(ZIP):
        return _of(_zipped(head, name), full_look=True)
    if head.startswith(OLE):
        suggested = formats.by_name(name)
        # An Office file with a password is an OLE file whatever it was before.
        expected = suggested is not None and suggested.id in {*OPEN_XML.values(), *OLE_STREAMS.values()}
        return _of(suggested.id if suggested is not None and expected else "ole", full_look=True)
    textual = text_kinds.is_text(head)
    at = head[:PDF_WITHIN].find(PDF_MARK)
    if at >= 0 and (not head[:at].strip(b"\xef\xbb\xbf\r\n\t \0") or not textual or name.lower().endswith(".pdf")):
        return _of("pdf")
    if head.startswith(b"{\\rtf"):
        return _of("rtf")
    if textual:
        return None
    guessed = filetype.guess(head)
    return _of(guessed.extension, guessed.mime) if guessed is not None else _of("binary")


def _zipped(head: bytes, name: str) -> str:
    """What the first members of a zip container suggest, else what its name does."""
    for prefix, kind in OPEN_XML.items():
        if prefix.encode() in head:
            return kind
    if head[30:38] == b"mimetype":
        stated = head[38:138]
        return next((kind for media_type, kind in MIMETYPE_MEMBER.items() if stated.startswith(media_type.encode())), "zip")
    suggested = formats.by_name(name)
    return suggested.id if suggested is not None and suggested.id in {*OPEN_XML.values(), *MIMETYPE_MEMBER.values()} else "zip"


def _text(head: bytes, name: str, declared: str) -> Sniffed:
    format_id, warning = text_kinds.text_format(head, name, declared)
    if format_id is None:
        return _of(warning)
    return Sniffed(format_id, formats.BY_ID[format_id].media_types[0], warning)


def _of(kind: str, media_type: str = "", *, full_look: bool = False) -> Sniffed:
    known = formats.BY_ID.get(kind)
    if known is not None:
        return Sniffed(known.id, known.media_types[0], full_look=full_look)
    reason = f"{text_kinds.article(kind)} is not supported; supported are {SUPPORTED}"
    return Sniffed(None, media_type or text_kinds.MEDIA_TYPES.get(kind, "application/octet-stream"), reason=reason, full_look=full_look)


def _compared(found: Sniffed, name: str, declared: str) -> Sniffed:
    """Add a warning when name or declared type say something else than the bytes."""
    if found.format_id is None or found.warning:
        return found
    named = text_kinds.named_kind(name)
    declared_type = declared.partition(";")[0].strip().lower()
    typed = formats.by_media_type(declared_type)
    textual = formats.BY_ID[found.format_id].textual
    warning = ""
    if named and named != found.format_id and not (textual and text_kinds.is_textual(named)):
        warning = f"the name says {named}, the content is {found.format_id}; it was read as {found.format_id}"
    elif declared_type not in GENERIC and _differs(typed, declared_type, found.format_id, textual):
        warning = f"the declared type is {declared_type[:60]}, the content is {found.format_id}; it was read as {found.format_id}"
    return Sniffed(found.format_id, found.media_type, warning, found.reason, found.full_look)


def _differs(typed: formats.Format | None, declared_type: str, format_id: str, textual: bool) -> bool:
    if typed is None:
        return not (textual and declared_type.startswith("text/"))
    return typed.id != format_id and not (textual and typed.textual)
