"""WebVTT and SubRip: who says what from when to when, in blocks of neighbouring cues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from eunoe_extractor.backends.data_blocks import DataBlocks
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.text import paragraphs, read_text
from eunoe_extractor.backends.transcript_cues import Cue, CueReader
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument

FORMATS = ("vtt", "srt")
VTT = re.compile(r"\s*WEBVTT(?=\s|$)[ \t]*(?:-[ \t]*)?([^\n]{0,300})")
FIELD = re.compile(r"([A-Za-z][\w-]{0,40})[:=](.{0,300})")
BLOCK_CHARS = 500
PAUSE_S = 10.0
TOUCHING_S = 0.1
GROWING_WORDS = 3
UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read the cues: neighbouring ones of a speaker make one block, a line that rolls over into the next cue is read once.

    A cue whose time line is broken is kept without times, with a warning. Raises `EmptyFile`, `BudgetExceeded`.
    """
    del name
    found = read_text(path)
    warnings = [found.warning] if found.warning else []
    start = VTT.match(found.text)
    reader = CueReader(found.text[start.end() :] if start else found.text)
    cues = reader.cues()
    blocks = DataBlocks(options.max_blocks)
    if reader.broken:
        lines = "1 time line is" if reader.broken == 1 else f"{reader.broken} time lines are"
        warnings.append(f"{lines} broken; the text there was read without its times")
    fields = _fields(reader.header) if start else {}
    outside = [line for line in reader.header if not (start and FIELD.match(line))]
    if not start or not cues:
        for paragraph in paragraphs("\n".join(outside)):
            blocks.add(BlockKind.PARAGRAPH, paragraph)
        if not cues and blocks.blocks:
            warnings.append("the file has no time lines; its text was kept as it is")
    for block in _blocks(_once(cues)):
        blocks.put(block)
    stated = start[1].strip() if start and start[1].strip().upper() != "FILE" else ""
    metadata = {"charset": found.codec} | ({"language": fields["language"][:20]} if "language" in fields else {})
    title = fields.get("title", stated)
    return ParsedDocument("vtt" if start else "srt", title, tuple(blocks.blocks), tuple(warnings), metadata)


def _fields(header: list[str]) -> dict[str, str]:
    """What stands under the first line of WebVTT, such as the language."""
    return {match[1].lower(): match[2].strip() for line in header if (match := FIELD.match(line)) and match[2].strip()}


def _once(cues: list[Cue]) -> Iterator[Cue]:
    """The cues without what they show again of the one before, if they follow it without a pause (live captions roll so)."""
    before: Cue | None = None
    for cue in cues:
        lines = cue.lines
        if before is not None and before.speaker == cue.speaker and _touch(before, cue):
            lines = _new_lines(before.lines, lines)
        # What is shown again stays in time: the block it is in must end when it leaves the screen.
        yield Cue(lines, cue.speaker, cue.start_s, cue.end_s)
        before = cue


def _touch(before: Cue, cue: Cue) -> bool:
    return before.end_s is not None and cue.start_s is not None and cue.start_s <= before.end_s + TOUCHING_S


def _new_lines(before: tuple[str, ...], lines: tuple[str, ...]) -> tuple[str, ...]:
    for count in range(min(len(before), len(lines), 4), 0, -1):
        if before[-count:] == lines[:count]:
            return lines[count:]
    shown, text = " ".join(before), " ".join(lines)
    if len(shown.split()) >= GROWING_WORDS and text.startswith(f"{shown} "):
        return (text[len(shown) + 1 :],)
    return lines


def _blocks(cues: Iterator[Cue]) -> Iterator[Block]:
    text: list[str] = []
    size = 0
    first: Cue | None = None
    end: float | None = None
    for cue in cues:
        said = _joined(list(cue.lines))
        if first is not None and (size + len(said) > BLOCK_CHARS or not _goes_on(first, end, cue)):
            yield _block(first, text, end)
            first, text, size, end = None, [], 0, None
        if first is None:
            if not said:
                continue
            first = cue
        if said:
            text.append(said)
            size += len(said) + 1
        end = cue.end_s if end is None or cue.end_s is None else max(end, cue.end_s)
    if first is not None:
        yield _block(first, text, end)


def _goes_on(first: Cue, end: float | None, cue: Cue) -> bool:
    """Whether a cue may join the block: same speaker, and no long pause or jump back."""
    if first.speaker != cue.speaker or (first.start_s is None) != (cue.start_s is None):
        return False
    if cue.start_s is None or first.start_s is None:
        return True
    return cue.start_s >= first.start_s and (end is None or cue.start_s - end < PAUSE_S)


def _block(first: Cue, text: list[str], end: float | None) -> Block:
    return Block(BlockKind.PARAGRAPH, _joined(text), start_s=first.start_s, end_s=end, speaker=first.speaker)


def _joined(parts: list[str]) -> str:
    """Parts with a space between, but none where the script has none."""
    pieces: list[str] = []
    for part in parts:
        if pieces and not (UNSPACED.match(pieces[-1][-1]) and UNSPACED.match(part[0])):
            pieces.append(" ")
        pieces.append(part)
    return "".join(pieces)
