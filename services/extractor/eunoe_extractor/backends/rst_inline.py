"""Inline marks of reStructuredText taken away, their text kept."""

from __future__ import annotations

import re

LITERAL = re.compile(r"``(.+?)``(?!`)")
ROLE = re.compile(r"(?<![\w`]):[A-Za-z][\w:.+-]{0,60}:`([^`\n]{1,1000})`")
QUOTED = re.compile(r"(?<!`)`([^`\n]{1,1000})`_{0,2}(?::[A-Za-z][\w:.+-]{0,60}:)?")
TARGET = re.compile(r"\s*<[^<>\n]{1,1000}>$")
STRONG = re.compile(r"(?<![\w*\\])\*\*(?=\S)([^*\n]{1,1000})(?<=\S)\*\*(?!\w)")
EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=\S)([^*\n]{1,1000})(?<=\S)\*(?![\w*])")
REFERENCE = re.compile(r"(?<=[\w\]])__?(?=$|[\s.,;:!?)\]])")
ESCAPE = re.compile(r"\\([^\w\s])|\\ ")
PLACE = re.compile("\ue000(\\d+)\ue001")


def plain(text: str) -> str:
    """The text without marks; what stands between double backquotes stays as it is."""
    literals: list[str] = []

    def taken(match: re.Match[str]) -> str:
        literals.append(match[1])
        return f"\ue000{len(literals) - 1}\ue001"

    text = LITERAL.sub(taken, text) if "``" in text else text
    if "`" in text:
        text = ROLE.sub(_named, text)
        text = QUOTED.sub(_named, text)
    if "*" in text:
        text = EMPHASIS.sub(r"\1", STRONG.sub(r"\1", text))
    if "_" in text:
        text = REFERENCE.sub("", text)
    if "\\" in text:
        text = ESCAPE.sub(r"\1", text)
    return PLACE.sub(lambda match: literals[int(match[1])] if int(match[1][:9]) < len(literals) else "", text) if literals else text


def _named(match: re.Match[str]) -> str:
    """The text of a role or link; its target alone when it has no text."""
    shown = TARGET.sub("", match[1])
    return shown or match[1].strip().strip("<>")
