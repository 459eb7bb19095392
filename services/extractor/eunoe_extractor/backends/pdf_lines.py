"""From the characters that pdfium gives for a page to paragraphs."""

from __future__ import annotations

import re

from eunoe_extractor.backends.blocks import clean

HYPHEN = re.compile("[\x02\ufffe]\\s*")
BROKEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ue000-\uf8ff\ufffd]")
BROKEN_SHARE = 0.1
ENDS_SENTENCE = (".", "!", "?", ":", "\u3002", "\uff01", "\uff1f", "…", "”", '."', ".)", "؟")
BULLET = re.compile(r"(?:[•◦▪▸●○■\u2013—·*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
SHORT_LINE = 0.7
NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){1,3})\.?\s+[A-Z][^\d.!?;=]{2,70}$")


def broken_share(raw: str) -> float:
    """Share of glyphs without a character; above `BROKEN_SHARE` the page cannot be trusted."""
    return len(BROKEN.findall(raw)) / len(raw) if raw else 0.0


def page_lines(raw: str) -> list[str]:
    """Lines of a page, words that were hyphenated at a line end put together; empty lines stay as "".

    pdfium marks such a hyphen with U+FFFE and leaves the line break after it (older versions: U+0002).
    """
    return [" ".join(line.split()) for line in clean(HYPHEN.sub("", raw)).split("\n")]


def join_paragraphs(lines: list[str]) -> list[str]:
    """Lines joined to paragraphs. One ends at an empty line, before a bullet, and after a line that ends a sentence and is clearly
    shorter than the others. Between East Asian characters no space is added.
    """
    filled = sorted(len(line) for line in lines if line)
    usual = filled[len(filled) * 3 // 4] if filled else 0
    found: list[str] = []
    current = ""
    for line in lines:
        if not line or (current and BULLET.match(line)):
            found.append(current)
            current = ""
        if line:
            current = _joined(current, line)
            if len(line) < usual * SHORT_LINE and line.endswith(ENDS_SENTENCE):
                found.append(current)
                current = ""
    found.append(current)
    return [each for each in found if each]


def numbered_level(line: str) -> int | None:
    """The level of a heading such as `5.1 Results`, by its number of at least two parts; None for any other line."""
    match = NUMBERED.match(line)
    return None if match is None else min(6, match[1].count(".") + 1)


def _joined(before: str, line: str) -> str:
    if not before:
        return line
    glue = "" if CJK.match(before[-1]) and CJK.match(line[0]) else " "
    return f"{before}{glue}{line}"
