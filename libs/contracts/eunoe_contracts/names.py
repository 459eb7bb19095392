"""Which strings in a text are names: the rules by which mentions of entities and of other documents are found, without a model.

A name is written with capitals or digits (`Ed Wood`, `GPT-4`), between quotation marks, as the text of a link, or as a file
name. Every service uses the same rules, so that a mention and the thing mentioned meet, whichever arrived first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from eunoe_contracts.identity import normalised_statement

NAME_TYPE = "name"
"""Type of an entity of which only the name is known."""

SHORTEST_TITLE = 6
LONGEST_NAME_WORDS = 8
SENTENCE_CASE_WORDS = 4
MOST_NAMES = 64
"""Most names of one text; the first ones count."""

_TOKEN = re.compile(r"[^\W_](?:[\w'\u2019&/-]*\w)?(?:\.(?=\w))?(?:[\w'\u2019&/-]*\w)?")
_QUOTED = re.compile(
    r"\"([^\"\n]{2,80})\"|\u201c([^\u201d\n]{2,80})\u201d|\u00ab\s?([^\u00bb\n]{2,80}?)\s?\u00bb|\u300a([^\u300b\n]{1,60})\u300b"
    r"|\u300c([^\u300d\n]{1,60})\u300d|\u300e([^\u300f\n]{1,60})\u300f|\[\[([^\]\n|]{2,80})(?:\|[^\]\n]*)?\]\]|\[([^\]\n]{2,80})\]\([^)\n]*\)"
)
_FILE = re.compile(r"(?<![\w./-])([\w-]{2,60})\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w/])")
_INSIDE = frozenset({"of", "the", "de", "la", "le", "du", "von", "van", "der", "den"})
_BETWEEN = frozenset({"and", "in", "for", "to", "a", "an", "on", "at"})
"""Small words that may stand inside a title, but more often stand between two names."""

_CONNECTORS = _INSIDE | _BETWEEN
_COMMON_WORDS = """
    a about above according actually additionally after afterwards again against all along already also although always am an and
    another any anyone anything are around as at be because been before being below between both but by can cannot could did do does
    during each either else even every everyone everything few finally first for from further had has have having he hello hence her
    here hers hi him his how however i i'd i'll i'm i've if in indeed instead into is it it's its just last later least let let's like
    many maybe me meanwhile might more moreover most much must my neither never nevertheless next no nobody none nor not nothing now of
    off often oh ok okay on once one only or other others otherwise our out over perhaps please rather same second see several shall
    she should since so some someone something sometimes soon still such sure than thank thanks that that's the their them then there
    there's therefore these they they're third this those though through thus to today together tomorrow too under unless until up upon
    us usually very was we we're well were what what's when where whereas whether which while who whom whose why will with within
    without would yeah yes yesterday yet you you're your yours todo note decision
    aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't shouldn't wasn't weren't won't wouldn't
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december""".casefold().split()
)
_DISAMBIGUATION = re.compile(r"\s*[(\uff08][^()\uff08\uff09]*[)\uff09]\s*\Z")


def mention_form(title: str) -> str:
    """How a text would mention a document with that title: without a disambiguation in brackets; empty when the title is too
    short to be told from an ordinary word (one word of fewer than six characters).
    """
    name = " ".join((_DISAMBIGUATION.sub("", title) or title).split())
    is_long_enough = len(normalised_statement(name)) >= SHORTEST_TITLE or len(_TOKEN.findall(name)) > 1
    return name if is_long_enough else ""


def main_names(text: str) -> list[str]:
    """The names as they are written, longest form only, in order of first appearance, each once."""
    return [name for name, is_main in _unique(_main(text, _runs(text)), MOST_NAMES) if is_main]


def mentionable_names(text: str, *, most: int = MOST_NAMES) -> list[tuple[str, bool]]:
    """All strings that may be a mention, and whether each is a main name. At most `most`: `main_names` first, then longer and
    shorter ones around them (`Burton` in `Tim Burton`, not `Wood`, which is too short), then those that go on in small letters, as
    titles do in many languages (`Kafka notes`).
    """
    return list(_unique(_all(text), most))


def _all(text: str) -> Iterator[tuple[str, bool]]:
    runs: list[list[re.Match[str]]] = []

    def remembered() -> Iterator[list[re.Match[str]]]:
        for run in _runs(text):
            runs.append(run)
            yield run

    yield from _main(text, remembered())
    for run in runs:
        yield from ((name, False) for name in _parts(text, run))
    yield from ((name, False) for name in _joined(text, runs))
    yield from ((name, False) for name in _sentence_case(text))


def _main(text: str, runs: Iterable[list[re.Match[str]]]) -> Iterator[tuple[str, bool]]:
    for run in runs:
        yield from ((name, True) for name in _trimmed(text, run))
    yield from ((name, True) for name in _marked(text))


def _unique(names: Iterable[tuple[str, bool]], most: int) -> Iterator[tuple[str, bool]]:
    seen: set[str] = set()
    for name, is_main in names:
        key = normalised_statement(name)
        if key and key not in seen:
            if len(seen) == most:
                return
            seen.add(key)
            yield name, is_main


def _marked(text: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        name = next((group for group in match.groups() if group), "").strip()
        if name and len(name.split()) <= LONGEST_NAME_WORDS and (mention_form(name) or not name.isascii()):
            yield mention_form(name) or name
    for match in _FILE.finditer(text):
        if mention_form(match[1]):
            yield match[1]


def _is_namelike(token: str) -> bool:
    if token == token.lower():
        return False
    word = token.casefold().replace("\u2019", "'")
    stem = word.partition("'")[0]
    return word not in _COMMON and (stem == word or stem not in _COMMON)


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Capitalised words in a row, joined by single spaces and small words such as `of`; leading common words stay outside."""
    run: list[re.Match[str]] = []
    pending: list[re.Match[str]] = []
    number: re.Match[str] | None = None
    previous_end = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        gap = text[previous_end : token.start()]
        previous_end = token.end()
        if run and gap not in {" ", " & "} and not (gap == ". " and len(run[-1][0]) == 1):
            yield run
            run, pending = [], []
        if not run:
            pending = [number] if number is not None and gap == " " else []
        number = token if word[:1].isdigit() and not run else None
        is_article = word in {"The", "A", "An"} and not run
        if _is_namelike(word) or is_article or (run and word.isdigit()) or (run and word[:1].isupper()):
            run.extend([*pending, token])
            pending = []
        elif run and word in _CONNECTORS and len(pending) < 2:  # noqa: PLR2004 - two as in "Lord of the Rings"
            pending.append(token)
        elif run:
            yield run
            run, pending = [], []
    if run:
        yield run


def _written(text: str, first: re.Match[str], last: re.Match[str]) -> str:
    name = text[first.start() : last.end()]
    return name[:-2] if name.endswith(("'s", "\u2019s")) else name


def _trimmed(text: str, run: list[re.Match[str]]) -> Iterator[str]:
    for kept in _without_between(run):
        while kept and (kept[0][0].casefold() in _COMMON or kept[0][0].isdigit()):
            kept.pop(0)
        while kept and kept[-1][0].casefold() in _COMMON:
            kept.pop()
        is_date = all(token[0].isdigit() or token[0].casefold() in _CALENDAR for token in kept)
        if not is_date and (len(kept[0][0]) > 1 or len(kept) > 1):
            for at in range(0, len(kept), LONGEST_NAME_WORDS):
                chunk = kept[at : at + LONGEST_NAME_WORDS]
                yield _written(text, chunk[0], chunk[-1])


def _without_between(run: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    current: list[re.Match[str]] = []
    for token in run:
        if token[0] in _BETWEEN:
            yield current
            current = []
        else:
            current.append(token)
    yield current


def _parts(text: str, run: list[re.Match[str]]) -> Iterator[str]:
    for size in range(min(len(run), LONGEST_NAME_WORDS), 0, -1):
        for at in range(len(run) - size + 1):
            first, last = run[at], run[at + size - 1]
            is_open = any(end[0].islower() and end[0] in _CONNECTORS for end in (first, last))
            is_common = size == 1 and first[0].casefold() in _COMMON
            name = _written(text, first, last)
            if not is_open and not is_common and (size > 1 or len(name) >= SHORTEST_TITLE):
                yield name


def _joined(text: str, runs: list[list[re.Match[str]]]) -> Iterator[str]:
    # `Laie, Hawaii` and `Edward Stanley, 3rd Earl of Derby`; of a longer list only neighbours.
    names = [name for run in runs for name in _without_between(run) if name]
    for before, after in pairwise(names):
        if text[before[-1].end() : after[0].start()] == ", " and len(before) + len(after) <= LONGEST_NAME_WORDS:
            yield _written(text, before[0], after[-1])


def _sentence_case(text: str) -> Iterator[str]:
    tokens = list(_TOKEN.finditer(text))
    for at, first in enumerate(tokens):
        if not _is_namelike(first[0]):
            continue
        for before, last in pairwise(tokens[at : at + SENTENCE_CASE_WORDS]):
            if text[before.end() : last.start()] != " ":
                break
            if last[0].islower() and last[0] not in _COMMON:
                yield _written(text, first, last)
