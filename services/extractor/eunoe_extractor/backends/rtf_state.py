"""What RTF text looks like at a place: fonts and their character sets, and the properties of characters and paragraphs."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_extractor.backends import rtf_tables as words
from eunoe_extractor.backends.rtf_flow import Flow

BODY_LEVEL = 9


@dataclass(slots=True)
class State:
    """What a closing brace brings back. `dead`: nothing inside is shown, whatever it says."""

    flow: Flow
    font: str = ""
    skip: int = 1
    shown: bool = True
    dead: bool = False
    hidden: bool = False
    deleted: bool = False


@dataclass(slots=True)
class Paragraph:
    """Properties of the paragraph that is being read; `outline` is the level of a heading, else 0."""

    in_table: bool = False
    style: str = ""
    outline: int = 0
    level: int = 0
    mark: str = ""

    def word(self, word: str, number: int) -> None:
        """Take a control word."""
        if word == "pard":  # the mark of an item stands before it
            self.in_table, self.style, self.outline, self.level = False, "", 0, 0
        elif word == "intbl":
            self.in_table = number != 0
        elif word == "s":
            self.style = str(number)
        elif word == "ilvl":
            self.level = max(0, number)
        elif word == "outlinelevel":
            self.outline = min(number + 1, 6) if 0 <= number < BODY_LEVEL else 0


class Fonts:
    """The character sets that the table of fonts and the head of the file declare."""

    def __init__(self) -> None:
        self._codecs: dict[str, str] = {}
        self._codec = words.DEFAULT_CODEC
        self._declared = self._default = ""

    def codec(self, font: str) -> str:
        """How to decode text in that font."""
        return self._codecs.get(font) or self._codec

    def word(self, word: str, number: int | None, state: State) -> None:
        """Take a control word."""
        in_table = state.flow.kind == "fonts"
        if word == "f" and in_table:
            self._declared = str(number)
        elif word == "f":
            state.font = str(number)
        elif word == "deff":
            self._default = state.font = str(number)
        elif word == "plain":
            state.font, state.hidden, state.deleted = self._default, False, False
        elif word == "fcharset" and in_table:
            self._codecs[self._declared] = words.codec_of(number or 0)
        elif word == "cpg" and in_table:
            self._codecs[self._declared] = words.known(f"cp{number}")
        elif word == "ansicpg" or word in words.CODE_PAGES:
            self._codec = words.known(words.CODE_PAGES.get(word, f"cp{number}")) or self._codec
