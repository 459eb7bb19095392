"""Where source code may be cut: before functions, classes and their like, in any of the languages we know by their key words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eunoe_extractor.segments.bound import Bounds, lines, paragraphs

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|unsafe|extern|inline|override|virtual|sealed"
    r"|open|data|local|const|partial|suspend|pub(?:\([^)\n]*\))?)\s+)*"
)
_DEFINITION = re.compile(
    rf"^(?P<indent>[ \t]*){_MODIFIERS}(?:"
    r"(?:def|class|interface|trait|struct|enum|impl|module|mod|namespace|func|function|fn|fun|sub|object|record|protocol|extension|type)\b"
    r"|create\s+(?:or\s+replace\s+)?(?:table|function|view|procedure|trigger|index)\b"
    r"|(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function\b|\([^)\n]*\)\s*=>|\w+\s*=>)"
    r"|[\w.]+\s*<-\s*function\b"
    r"|(?!(?:if|for|while|switch|else|return|catch|do|try|elif|with|using|lock|foreach|unless|until|case)\b)"
    r"[A-Za-z_][\w:<>,*&\[\]~ \t]*[ \t*&]~?[\w:]+\([^;{}\n]*\)[^;{}\n=]*\{)",
    re.MULTILINE | re.IGNORECASE,
)
_LEAD = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|--|;;|\"\"\"|\[[A-Z])")


def outer_definitions(text: str) -> Sequence[int]:
    """Before the outermost definitions, with the comments and decorators that stand right above them."""
    return _definitions(text, nested=False)


def inner_definitions(text: str) -> Sequence[int]:
    """Before the definitions one level further in."""
    return _definitions(text, nested=True)


def _definitions(text: str, *, nested: bool) -> Sequence[int]:
    found = [(match.start(), len(match["indent"].expandtabs(4))) for match in _DEFINITION.finditer(text)]
    indents = sorted({indent for _, indent in found})
    wanted = indents[1:2] if nested else indents[:1]
    starts = (_with_lead(text, start) for start, indent in found if indent in wanted)
    return sorted({start for start in starts if start > 0})


def _with_lead(text: str, start: int) -> int:
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not _LEAD.match(text[above : start - 1]):
            return start
        start = above
    return start


CODE: tuple[Bounds, ...] = (outer_definitions, inner_definitions, paragraphs, lines)
