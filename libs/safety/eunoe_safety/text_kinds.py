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

WEBVTT_START = re.compile(r"\s*WEBVTT(?:\s|$)")
SRT_START = re.compile(r"\s*\d+[ \t]*\r?\n\d{1,3}:\d{2}:\d{2}[,.]\d{1,3}\s*-->")
XML_START = re.compile(r"\s*<\?xml\b")
SAVED_PAGE = re.compile(r"^(?:snapshot-content-location:|content-type:\s*multipart/related\b)", re.IGNORECASE | re.MULTILINE)

PLAIN = frozenset({"toml", "ini", "cfg", "conf", "tex", "adoc", "org"})
"""Other names a text may have; it is read as plain text."""
NAMES = {
    "binary": "binary data of an unknown kind",
    "ole": "an old Office file",
    "doc": "a Word 97 document (doc)",
    "xls": "an Excel 97 workbook (xls)",
    "ppt": "a PowerPoint 97 presentation (ppt)",
    "msg": "an Outlook message (msg)",
    "zip": "a zip archive",
    "svg": "an SVG picture",
    "eml": "a mail message",
    "mbox": "a mailbox",
    "mhtml": "a saved web page",
}
"""Kinds that can be told and not be read."""
MEDIA_TYPES = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "msg": "application/vnd.ms-outlook",
    "zip": "application/zip",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
    "mhtml": "multipart/related",
    "svg": "image/svg+xml",
}


def article(kind: str) -> str:
    """The kind as the subject of a sentence."""
    known = formats.BY_ID.get(kind)
    return known.title if known is not None else NAMES.get(kind, f"a file of type {kind}")


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
    """The text format and a warning, or None and the kind when it is text that eunoe does not read as such (SVG)."""
    named = formats.by_name(name)
    if named is not None and named.id in {"markdown", "code"}:
        return named.id, ""
    start = decode(head[:SAMPLE], markup=True).text.lstrip("\ufeff")
    if HTML_START.match(start):
        return "html", ""
    if SVG_START.match(start):
        return None, "svg"
    shown = _shown(start, name)
    if shown:
        return (shown, "") if shown in formats.BY_ID else (None, shown)
    return _by_label(start, name, named, formats.by_media_type(declared))


def _shown(start: str, name: str) -> str:
    """What the first lines say by themselves; "" when they leave it open."""
    if WEBVTT_START.match(start):
        return "vtt"
    if SRT_START.match(start):
        return "srt"
    if _is_mail(start, name):
        if name.lower().endswith((".mhtml", ".mht")) or (SAVED_PAGE.search(start) and not name.lower().endswith(".eml")):
            return "mhtml"
        # One message after a "From " line is either; then the name decides.
        return "mbox" if start.startswith("From ") and not name.lower().endswith(".eml") else "eml"
    return "xml" if XML_START.match(start) else ""


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
    named = name.lower().endswith((".eml", ".mbox", ".mhtml", ".mht"))
    return headers >= (1 if named else MAIL_HEADERS) and (named or MAIL_HEADER.match(lines[0]) is not None or lines[0].startswith("From "))
