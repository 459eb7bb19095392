"""Bytes to text: which character set a text is in, decided in a fixed order. Pure; no file access."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

import chardet

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
META = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""", re.IGNORECASE
)
META_BYTES = 4096
GUESS_BYTES = 64 * 1024
C1_CONTROLS = re.compile("[\x80-\x84\x86-\x9f]")  # U+0085 is a line end in some systems
WEB_NAMES = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
DAMAGED_SHARE = 0.05
ASCII_LETTERS = re.compile(rb"[A-Za-z]")
BESIDE_LETTERS = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]{1,2}|[\x80-\xff]{1,2}(?=[A-Za-z])|(?<= )[\x80-\xff](?= )")
SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])[\xa1-\xb9\xbb-\xbf\xd7\xf7]")
"""A letter of another Latin code page, read as cp1252."""
ACCENTED_SHARE, LETTERS_PER_ACCENT = 0.8, 3
UTF16_SAMPLE = 4096
UTF16_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the codec that read it, and a sentence for the user when characters may be wrong."""

    text: str
    codec: str
    warning: str = ""


def decode(data: bytes, *, declared: str = "", markup: bool = False) -> Decoded:
    """Decode `data`; never fails. `declared` is the charset of a header; `markup` also believes `<meta>` and XML declarations.

    Order: byte order mark; header, then declaration in the text, if the bytes decode; UTF-16 by its zero bytes; strict UTF-8; UTF-8
    with a few damaged characters; chardet's candidates, those without C1 control characters first, and only Latin ones where single
    bytes stand inside of words of ASCII letters; cp1252 with replacement.
    """
    for mark, codec in MARKS:
        if data.startswith(mark):
            return _lenient(data[len(mark) :], codec)
    wanted = [declared, _declared_inside(data)] if markup else [declared]
    for name in wanted:
        found = _try(data, _codec(name))
        if found is not None:
            return found
    found = _try(data, utf16_without_mark(data)) or _try(data, "utf-8") or _damaged_utf8(data)
    return found or _guess(data)


def utf16_without_mark(data: bytes) -> str:
    """The UTF-16 codec whose zero bytes these are, or "" when it is none. Works for scripts below U+0800 with spaces and digits."""
    sample = data[: UTF16_SAMPLE - UTF16_SAMPLE % 2]
    half = len(sample) // 2
    if half == 0:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > half * UTF16_SHARE and even == 0:
        return "utf-16-le"
    return "utf-16-be" if even > half * UTF16_SHARE and odd == 0 else ""


def _declared_inside(data: bytes) -> str:
    found = META.search(data[:META_BYTES])
    name = "" if found is None else (found[1] or found[2]).decode("ascii", "replace")
    return "utf-8" if name.lower().startswith(("utf-16", "utf16")) else name  # a readable declaration cannot be in UTF-16 (WHATWG)


def _codec(name: str) -> str:
    """The name Python knows; Western names mean cp1252 and GB names gb18030, as browsers have it (WHATWG Encoding); "" if unknown."""
    try:
        known = codecs.lookup(name.strip().strip("\"'")).name if name.strip() else ""
    except LookupError:
        return ""
    is_text = known and known not in {
        "base64",
        "bz2",
        "hex",
        "quopri",
        "rot13",
        "uu",
        "zlib",
        "unicode_escape",
        "raw_unicode_escape",
        "utf-7",
        "idna",
        "punycode",
    }
    return WEB_NAMES.get(known.replace("iso8859", "iso-8859"), known) if is_text else ""


def _try(data: bytes, codec: str) -> Decoded | None:
    if not codec:
        return None
    try:
        text = data.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return None
    return None if C1_CONTROLS.search(text) and codec != "utf-8" else Decoded(text, codec)


def _lenient(data: bytes, codec: str) -> Decoded:
    text = data.decode(codec, "replace")
    damaged = text.count("�")
    return Decoded(text, codec, f"{damaged} characters could not be decoded as {codec}" if damaged else "")


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 that was cut or has a few wrong bytes: most of what is not ASCII must decode."""
    found = _lenient(data, "utf-8")
    good = sum(1 for each in found.text if each > "\x7f" and each != "�")
    return found if good and found.text.count("�") <= max(1, good * DAMAGED_SHARE) else None


def _guess(data: bytes) -> Decoded:
    warning = "the character set is not declared; it was guessed as {}"
    guesses = [_codec(str(each.get("encoding") or "")) for each in chardet.detect_all(data[:GUESS_BYTES])]
    accented = _is_accented(data[:GUESS_BYTES])
    for codec in dict.fromkeys(("cp1252", *guesses) if accented else guesses):
        found = _try(data, codec)
        if found is not None and (not accented or _is_latin(found.text[:GUESS_BYTES])):
            return Decoded(found.text, codec, warning.format(codec))
    return Decoded(data.decode("cp1252", "replace"), "cp1252", warning.format("cp1252") + "; some characters may be wrong")


def _is_accented(data: bytes) -> bool:
    """Words of ASCII letters with single others in them: a short text of that kind looks like any script to a detector, and is mostly
    Western.
    """
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    letters = len(ASCII_LETTERS.findall(data))
    beside = sum(map(len, BESIDE_LETTERS.findall(data)))
    return 0 < high * LETTERS_PER_ACCENT <= letters and beside >= ACCENTED_SHARE * high


def _is_latin(text: str) -> bool:
    letters = [each for each in text if each > "\x7f" and each.isalpha()]
    return all(unicodedata.name(each, "").startswith("LATIN") for each in letters) and not SIGN_IN_WORD.search(text)
