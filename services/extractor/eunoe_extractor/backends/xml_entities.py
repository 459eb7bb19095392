"""Entities that a document type declares: short texts are put in their places, bombs are refused, files outside are not read."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5
from typing import Any
from xml.sax.saxutils import escape

from eunoe_contracts.errors import CorruptDocument

REFERENCE = re.compile(r"&([^\W\d][\w.\-]{0,99});")
TAG = re.compile(r"<[^<>]{0,1000}>")
KEPT = frozenset({"amp", "lt", "gt", "quot", "apos"})
LONGEST_ENTITY = 10_000
MOST_ADDED = 4_000_000


class Entities:
    """The entities of a document. Raises `CorruptDocument` when one unfolds into more than a short text or holds itself.

    `outside` tells whether one stands for another file.
    """

    def __init__(self, dtd: Any) -> None:
        declared = [] if dtd is None else list(dtd.iterentities())
        self.outside = any(each.content is None for each in declared)
        self._declared = {each.name: each.content or "" for each in declared}
        self._texts: dict[str, str] = {}
        for name in self._declared:
            self._unfold(name, ())

    def put_in(self, text: str) -> str:
        """The source with all references replaced that are declared, or known from HTML."""
        added = 0

        def replaced(match: re.Match[str]) -> str:
            nonlocal added
            if match[1] in KEPT or (match[1] not in self._declared and f"{match[1]};" not in html5):
                return match[0]
            new = escape(unescape(TAG.sub(" ", self._unfold(match[1], ()))))
            added += len(new)
            if added > MOST_ADDED:
                raise CorruptDocument("the entities of the document unfold into far more text than it has")
            return new

        return REFERENCE.sub(replaced, text)

    def _unfold(self, name: str, within: tuple[str, ...]) -> str:
        """The text of an entity; those of HTML are known without a declaration."""
        if name in self._texts:
            return self._texts[name]
        if name in within or len(within) > len(self._declared) or len(within) > 50:  # noqa: PLR2004
            raise CorruptDocument("the document declares entities without end")
        content = self._declared.get(name)
        if content is None:
            return html5.get(f"{name};", "")
        parts: list[str] = []
        size = at = 0
        for match in REFERENCE.finditer(content):
            inner = match[0] if match[1] in KEPT else self._unfold(match[1], (*within, name))
            parts += [content[at : match.start()], inner]
            size += match.start() - at + len(inner)
            at = match.end()
            if size > LONGEST_ENTITY:
                break
        parts.append(content[at : at + LONGEST_ENTITY + 1])
        text = "".join(parts)
        if len(text) > LONGEST_ENTITY:
            raise CorruptDocument("the document declares entities that unfold into far more text than it has")
        self._texts[name] = text
        return text
