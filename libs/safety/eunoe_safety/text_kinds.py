"""Kinds of text, and the names of what is not: whether bytes are text at all, and which text format they are in."""

from __future__ import annotations

import re

from eunoe_contracts import formats

from eunoe_safety.charset import MARKS, decode, utf16_without_mark

SAMPLE = 8192
CONTROL_SHARE = 0.02
CONTROLS = bytes(set(range(32)) - set(b"\b\t\n\r\f\x1b")) + b"\x7f"
HTML_START = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
SVG_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype svg[^>]*>\s*)?<svg\b",
    re.IGNORECASE | re.DOTALL,
)
MAIL_HEADER = re.compile(r"(?:from|to|subject|date|received|return-path|message-id|mime-version|delivered-to):", re.IGNORECASE)
MAIL_HEADERS = 3
MAIL_LINES = 12

# Other names a file may have: read as plain text, or not at all.
PLAIN = frozenset(
    {"csv", "tsv", "json", "jsonl", "ndjson", "xml", "yaml", "yml", "toml", "ini", "cfg", "conf", "rst", "srt", "vtt", "tex", "adoc", "org"}
)
NAMES = {
    "binary": "binary data of an unknown kind",
    "ole": "an old Office file",
    "doc": "a Word 97 document (doc)",
    "xls": "an Excel 97 workbook (xls)",
    "ppt": "a PowerPoint 97 presentation (ppt)",
    "msg": "an Outlook message (msg)",
    "xlsx": "an Excel workbook (xlsx)",
    "pptx": "a PowerPoint presentation (pptx)",
    "zip": "a zip archive",
    "epub": "an EPUB book",
    "odt": "an OpenDocument text (odt)",
    "ods": "an OpenDocument spreadsheet (ods)",
    "odp": "an OpenDocument presentation (odp)",
    "rtf": "an RTF document",
    "svg": "an SVG picture",
    "eml": "a mail message",
    "mbox": "a mailbox",
}


MEDIA_TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "msg": "application/vnd.ms-outlook",
    "zip": "application/zip",
    "epub": "application/epub+zip",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "rtf": "application/rtf",
    "svg": "image/svg+xml",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
}


def article(kind: str) -> str:
    """The kind as the subject of a sentence."""
    return NAMES.get(kind, f"a file of type {kind}")


def is_text(head: bytes) -> bool:
    """Whether these are characters in some character set: a byte order mark, UTF-16, or hardly any control characters."""
    if any(head.startswith(mark) for mark, _ in MARKS):
        codec = next(codec for mark, codec in MARKS if head.startswith(mark))
        return _printable(head[: SAMPLE - SAMPLE % 4].decode(codec, "ignore"))
    codec = utf16_without_mark(head)
    if codec:
        return _printable(head[:SAMPLE].decode(codec, "ignore"))
    sample = head[:SAMPLE]
    return b"\0" not in head and len(sample) - len(sample.translate(None, CONTROLS)) <= len(sample) * CONTROL_SHARE


def _printable(text: str) -> bool:
    bad = sum(1 for each in text if (each < " " and each not in "\b\t\n\r\f\x1b") or each == "�")
    return bad <= len(text) * CONTROL_SHARE


def named_kind(name: str) -> str:
    """The format id a name suggests, or its extension when that names another kind; "" when it says nothing."""
    known = formats.by_name(name)
    if known is not None:
        return known.id
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return extension if extension in NAMES or extension in PLAIN else ""


def is_textual(kind: str) -> bool:
    """Whether a name of that kind fits any text."""
    known = formats.BY_ID.get(kind)
    return kind in PLAIN or (known is not None and known.textual)


def text_format(head: bytes, name: str, declared: str) -> tuple[str | None, str]:
    """The text format and a warning, or None and the kind when it is text that eunoe does not read as such (mail, SVG)."""
    named = formats.by_name(name)
    if named is not None and named.id in {"markdown", "code"}:
        return named.id, ""
    start = decode(head[:SAMPLE], markup=True).text.lstrip("\ufeff")
    if HTML_START.match(start):
        return "html", ""
    if SVG_START.match(start):
        return None, "svg"
    if _is_mail(start, name):
        return None, "mbox" if start.startswith("From ") else "eml"
    return _by_label(start, name, named, formats.by_media_type(declared))


def _by_label(start: str, name: str, named: formats.Format | None, typed: formats.Format | None) -> tuple[str, str]:
    """The content leaves it open: the name decides, then the declared type, then a first line that names an interpreter."""
    if named is not None and named.textual:
        return named.id, ""
    if typed is not None and typed.textual and named is None:
        return typed.id, ""
    kind = named_kind(name)
    if kind in PLAIN:
        return "text", f"{kind} has no reader of its own yet; it was read as plain text"
    return "code" if start.startswith("#!") else "text", ""


def _is_mail(start: str, name: str) -> bool:
    lines = start.split("\n", MAIL_LINES)[:MAIL_LINES]
    headers = sum(1 for each in lines if MAIL_HEADER.match(each))
    named = name.lower().endswith((".eml", ".mbox"))
    return headers >= (1 if named else MAIL_HEADERS) and (named or MAIL_HEADER.match(lines[0]) is not None or lines[0].startswith("From "))
