"""Comments of a YAML text, found between the marks of the parser's events: the parser itself drops them."""

from __future__ import annotations

import re
from typing import Any

COMMENT = re.compile(r"(?:^|[ \t])#+[ \t]*(.*)")


class Comments:
    """Hand it each event in order; ask for the comments that stand above a line."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._line = self._column = 0  # everything before is read

    def above(self, line: int) -> str:
        """Comments up to that line that were not handed out yet, joined by line feeds."""
        found: list[str] = []
        while self._line < min(line, len(self._lines)):
            match = COMMENT.search(self._lines[self._line], self._column)
            if match and match[1].strip():
                found.append(match[1].rstrip())
            self._line, self._column = self._line + 1, 0
        return "\n".join(found)

    def passed(self, event: Any) -> str:
        """Take note of a value's place: no comment is inside it. Returns the comments before it."""
        found = self.above(event.start_mark.line)
        end = event.end_mark
        self._line, self._column = max((self._line, self._column), (end.line, end.column))
        return found
