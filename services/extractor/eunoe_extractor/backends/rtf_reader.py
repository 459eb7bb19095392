"""Reads the tokens of RTF in one pass, in time and memory that grow with the size of the file only."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from eunoe_contracts.errors import BudgetExceeded, CorruptDocument

from eunoe_extractor.backends import rtf_tables as words
from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.rtf_asides import Asides
from eunoe_extractor.backends.rtf_flow import Flow
from eunoe_extractor.backends.rtf_state import Fonts, Paragraph, State

MOST_TOKENS = 8_000_000
DEEPEST = 2000
HEADING = re.compile(r"heading ([1-9])|(title)", re.IGNORECASE)
TABLES = frozenset({"styles", "fonts"})
CUT_OFF = "the rich text is cut off"


class Reader:
    """Adds the body to `blocks`; `asides` holds what does not stand in it."""

    def __init__(self, source: str, start: int, blocks: DataBlocks) -> None:
        self.warnings: list[str] = []
        self._source, self._at, self._blocks = source, start, blocks
        self._body = Flow("body")
        self._state = State(self._body)
        self._stack: list[State] = []
        self._paragraph = Paragraph()
        self._around: list[Paragraph] = []
        self._styles: dict[str, int] = {}
        self._fonts = Fonts()
        self._raw = bytearray()
        self._left = 0
        self._star = self._hidden = False
        self._damaged = 0
        self.asides = Asides()

    def read(self) -> None:
        """Read all. Raises `CorruptDocument`, `BudgetExceeded`."""
        tokens = 0
        match = words.TOKEN.match
        while (found := match(self._source, self._at)) is not None and found.end() > self._at:
            self._at = found.end()
            tokens += 1
            if tokens > MOST_TOKENS:
                raise BudgetExceeded("the rich text has more parts than this server reads")
            word, number, code, sign, brace, text = found.groups()
            if text is not None:
                self._plain(text)
            elif code is not None:
                self._plain(chr(int(code, 16)))
            elif word is not None:
                self._word(word, None if number is None else int(number))
            elif brace is not None:
                self._brace(brace)
                if not self._stack:
                    break
            elif sign is not None:
                self._sign(sign)
        self._end()

    def _end(self) -> None:
        self._decode()
        if len(self._stack) > 1 or (self._stack and self._state.flow is not self._body):
            raise CorruptDocument(CUT_OFF)
        if self._stack:
            self.warnings.append("the rich text has no end mark; its last part may be missing")
        self._body.finish(self._blocks)
        if self._hidden:
            self.warnings.append("the document has hidden text, which was read too")
        if self._damaged:
            self.warnings.append(f"{self._damaged} characters could not be decoded")

    def _plain(self, text: str) -> None:
        skipped = min(self._left, len(text))
        self._left -= skipped
        if self._state.shown:
            self._raw += text[skipped:].encode("latin-1")

    def _decode(self) -> None:
        """Bytes are decoded together: the second half of a character may look like a letter."""
        if not self._raw:
            return
        data = bytes(self._raw)
        self._raw.clear()
        text = data.decode(self._fonts.codec(self._state.font), "replace")
        self._damaged += 0 if self._state.flow.kind in TABLES else text.count("\ufffd")
        self._write(text)

    def _write(self, text: str) -> None:
        state = self._state
        if state.shown and not state.deleted:
            self._hidden = self._hidden or (state.hidden and state.flow.kind not in TABLES and bool(text.strip()))
            state.flow.write(text)

    def _brace(self, brace: str) -> None:
        self._decode()
        self._left = 0
        self._star = False
        if brace == "{":
            self._stack.append(self._state)
            self._state = replace(self._state)
            if len(self._stack) > DEEPEST:
                raise CorruptDocument("the rich text is nested too deep")
        else:
            inner, self._state = self._state, self._stack.pop()
            if inner.flow is not self._state.flow:
                self._paragraph = self._around.pop()
                self._paragraph.mark = self.asides.close(inner.flow, self._state.flow) or self._paragraph.mark
            elif inner.flow.kind == "styles":
                self._style(inner.flow)

    def _sign(self, sign: str) -> None:
        if sign in "\\{}":
            self._plain(sign)  # it may be the second half of a character
        elif sign == "*":
            self._left = 0
            self._star = True
        elif sign in "\r\n":
            self._word("par", None)
        elif self._left:
            self._left -= 1
        else:
            self._decode()
            self._write(words.CHARACTERS.get(sign, ""))

    def _word(self, word: str, number: int | None) -> None:
        star, self._star = self._star, False
        self._left = 0
        if word == "bin":
            self._at = min(len(self._source), self._at + max(0, number or 0))
            return
        self._decode()
        if star or word in words.SKIPPED or word in words.FLOWS or word in words.SHOWN_AGAIN or word in words.DEAD:
            self._destination(word)
        elif self._state.shown:
            self._shown(word, number)

    def _destination(self, word: str) -> None:
        state = self._state
        state.dead = state.dead or word in words.DEAD
        if word == "ud" and len(self._stack) > 1:
            shown = self._stack[-2].shown  # as what its group, which is skipped, stands in
        else:
            shown = word in words.FLOWS and (state.shown or word in words.SHOWN_AGAIN)
        state.shown = shown and not state.dead
        if state.shown and word in words.FLOWS and state.flow is self._stack[-1].flow:
            state.flow = self.asides.open(word, state.flow)
            self._around.append(self._paragraph)
            self._paragraph = Paragraph()

    def _style(self, flow: Flow) -> None:
        """A style has ended; its name follows its control words."""
        name = flow.take().strip()
        found = HEADING.match(name)
        if found and self._paragraph.style:
            self._styles[self._paragraph.style] = min(int(found[1] or 1), 6)
        if name:
            self._paragraph = Paragraph()

    def _shown(self, word: str, number: int | None) -> None:
        if word in words.CHARACTERS:
            self._write(words.CHARACTERS[word])
        elif word == "u" and number is not None:
            code = number + 0x10000 if number < 0 else number
            self._write(chr(code) if 0 <= code < sys.maxunicode else "")
            self._left = self._state.skip
        elif word in words.ENDS or word in words.CELLS:
            self._end_of(word)
        elif word in words.FONT_WORDS:
            self._fonts.word(word, number, self._state)
        elif word in words.PARAGRAPH_WORDS:
            self._paragraph.word(word, -1 if number is None else number)
        elif word in {"v", "deleted"}:
            setattr(self._state, words.TOGGLES[word], number != 0)
        elif word == "uc":
            self._state.skip = max(0, number or 0)

    def _end_of(self, word: str) -> None:
        flow, paragraph = self._state.flow, self._paragraph
        is_body = flow is self._body
        if word == "cell" and is_body:
            flow.cell()
        elif word == "row" and is_body:
            flow.row()
        elif word in words.CELLS or paragraph.in_table or not is_body:
            self._write("\n" if word in words.ENDS else " ")
        else:
            heading = paragraph.outline or self._styles.get(paragraph.style, 0)
            flow.paragraph(self._blocks, heading=heading, level=paragraph.level, mark=paragraph.mark)
        if is_body:
            paragraph.mark = ""
