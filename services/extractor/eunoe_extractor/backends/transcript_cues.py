"""Cues of a subtitle file: their times, their lines, and who speaks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape

ARROW = "-->"
STAMP = r"(?:([0-9]{1,5}):)?([0-9]{1,3}):([0-9]{1,3})(?:[.,]([0-9]{1,9}))?"
TIMES = re.compile(rf"\s*{STAMP}\s*-->\s*{STAMP}(?:\s.*)?")
COUNTER = re.compile(r"\s*[0-9]{1,9}\s*")
UNSPOKEN = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
VOICE = re.compile(r"<v(?:\.[^\s<>]{0,100})?\s+([^<>\n]{1,200})>|</v>")
TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<[0-9][0-9:.,]{0,20}>|\{\\[^{}\n]{0,100}\}")
LABEL = re.compile(r"(?:>>+\s*)?([^\W_][^:<>\n,;!?()\"]{0,39}?)\s?(?::\s+|\uff1a\s*)(?=\S)")
MOST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Cue:
    """What one speaker says in one cue. Times are None when the time line is broken."""

    lines: tuple[str, ...]
    speaker: str = ""
    start_s: float | None = None
    end_s: float | None = None


class CueReader:
    """Reads the cues of a text. Afterwards `broken` counts the time lines that say no time, `header` has the lines before all cues."""

    def __init__(self, text: str) -> None:
        self.broken = 0
        self.header: list[str] = []
        self._lines = text.split("\n")

    def cues(self) -> list[Cue]:
        """All cues in the order of the file. Labels such as "Ann: " count as speakers when they come again."""
        return _labelled([cue for times, lines in self._raw() for cue in _voices(times, lines)])

    def _raw(self) -> Iterator[tuple[tuple[float | None, float | None], list[str]]]:
        """Times and lines. Comments and styles of WebVTT are no speech and left out; text without times belongs to the cue before."""
        times: tuple[float | None, float | None] | None = None
        said: list[str] = []
        skipping = False
        for number, line in enumerate(self._lines):
            is_time = ARROW in line
            fresh = number == 0 or not self._lines[number - 1].strip()
            if is_time:
                if times is not None:
                    yield times, said
                times, said, skipping = self._times(line), [], False
            elif not line.strip():
                skipping = False
                self.header += [""] if times is None else []
            elif skipping or (fresh and UNSPOKEN.match(line)):
                skipping = True
            elif self._names_cue(number, fresh=fresh):
                continue
            elif times is None:
                self.header.append(line)
            else:
                said.append(line)
        if times is not None:
            yield times, said

    def _names_cue(self, number: int, *, fresh: bool) -> bool:
        """Whether a line is the number or name of the cue after it. A name needs an empty line before it."""
        following = self._lines[number + 1] if number + 1 < len(self._lines) else ""
        if ARROW in following:
            return fresh or COUNTER.fullmatch(self._lines[number]) is not None
        return fresh and COUNTER.fullmatch(self._lines[number]) is not None and not following.strip()

    def _times(self, line: str) -> tuple[float | None, float | None]:
        match = TIMES.fullmatch(line)
        if match is None:
            self.broken += 1
            return None, None
        start, end = _seconds(*match.groups()[:4]), _seconds(*match.groups()[4:])
        if end < start:
            self.broken += 1
            return start, None
        return start, end


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> float:
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return round(whole + (int(fraction) / 10 ** len(fraction) if fraction else 0.0), 3)


def _voices(times: tuple[float | None, float | None], lines: list[str]) -> Iterator[Cue]:
    """The parts of a cue by its voice tags."""
    text = "\n".join(lines)
    at, speaker = 0, ""
    for match in [*VOICE.finditer(text), None]:
        said = _plain(text[at : match.start() if match else len(text)])
        if said:
            yield Cue(said, speaker, *times)
        if match:
            at, speaker = match.end(), " ".join(unescape(match[1] or "").split())


def _plain(text: str) -> tuple[str, ...]:
    lines = (" ".join(unescape(TAG.sub("", line)).split()) for line in text.split("\n"))
    return tuple(line for line in lines if line)


def _labelled(cues: list[Cue]) -> list[Cue]:
    """Cues with the labels taken out of the text, if there are labels that come more than once."""
    labels = Counter(label for cue in cues for line in cue.lines if not cue.speaker and (label := _label(line)))
    known = {label for label, count in labels.items() if count > 1}
    return [part for cue in cues for part in _turns(cue, known)] if known else cues


def _label(line: str) -> str:
    match = LABEL.match(line)
    label = match[1].strip() if match else ""
    return label if label and len(label.split()) <= MOST_WORDS and not label.isdecimal() else ""


def _turns(cue: Cue, known: set[str]) -> Iterator[Cue]:
    """One cue per label in it."""
    lines: list[str] = []
    speaker = cue.speaker
    for line in cue.lines:
        label = _label(line) if not cue.speaker else ""
        match = LABEL.match(line) if label in known else None
        if match:
            if lines:
                yield replace(cue, lines=tuple(lines), speaker=speaker)
            lines, speaker = [line[match.end() :]], label
        else:
            lines.append(line)
    if lines:
        yield replace(cue, lines=tuple(lines), speaker=speaker)
