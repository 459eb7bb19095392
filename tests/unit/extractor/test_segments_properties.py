"""Segmentation as a whole: nothing lost, order kept, limits respected, the same every time."""

from __future__ import annotations

import re
from uuid import UUID

from eunoe_contracts.content import Kind, assemble_text
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from eunoe_extractor.segments.layout import lay_out
from eunoe_extractor.segments.length import Measure
from eunoe_extractor.segments.limits import Limits
from eunoe_extractor.segments.outline import Origin, units
from eunoe_extractor.segments.section import sections
from eunoe_models.embedding.characters import CharacterCounter
from eunoe_models.embedding.port import TokenCounter
from hypothesis import given, settings
from hypothesis import strategies as st

DOCUMENT = UUID("00000000-0000-5000-8000-000000000001")
ORIGIN = Origin(DOCUMENT, 1, "notes", title="Field notes", date="8 May 2023", before="What was said before.")
SMALL = Limits(passage_tokens=40, header_tokens=12, section_threshold_tokens=200, section_chars=300)

words = st.text(alphabet=st.sampled_from("abcdefg éß漢字🇩🇪👩‍🔬0.!?\n "), min_size=1, max_size=400)


class WordCounter:
    """Counts words, and cuts at words: a stand-in for a real tokenizer that differs from characters."""

    window = 60

    def count(self, text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    def cut(self, text: str, tokens: int) -> int:
        found = list(re.finditer(r"\w+|[^\w\s]", text))
        return len(text) if len(found) <= tokens else found[tokens].start()

    def cut_tail(self, text: str, tokens: int) -> int:
        found = list(re.finditer(r"\w+|[^\w\s]", text))
        return 0 if len(found) <= tokens else found[-tokens].start() if tokens else len(text)


def table(rows: list[tuple[str, str]]) -> Block:
    lines = ["| name | value |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)]
    return Block(BlockKind.TABLE, "\n".join(lines), header=("name", "value"), rows=tuple(rows))


cells = st.text(alphabet="abc xyz", min_size=1, max_size=30)
blocks = st.one_of(
    st.builds(lambda text: Block(BlockKind.PARAGRAPH, text), words),
    st.builds(lambda text: Block(BlockKind.CODE, text, language="py"), words),
    st.builds(lambda text: Block(BlockKind.QUOTE, text), words),
    st.builds(lambda parts: Block(BlockKind.LIST, "\n".join(f"- {part}" for part in parts)), st.lists(cells, min_size=1, max_size=8)),
    st.builds(lambda text, level: Block(BlockKind.HEADING, text, level=level), st.text("abc", min_size=1, max_size=12), st.integers(1, 6)),
    st.builds(lambda text, who: Block(BlockKind.PARAGRAPH, text, speaker=who), words, st.sampled_from(["Ann", "Bo"])),
    st.builds(table, st.lists(st.tuples(cells, cells), min_size=1, max_size=12)),
)
documents = st.builds(lambda parts: ParsedDocument("markdown", blocks=tuple(parts)), st.lists(blocks, max_size=12))
counters = st.sampled_from([CharacterCounter(52), WordCounter()])


@settings(max_examples=150, deadline=None)
@given(documents, counters)
def test_nothing_is_lost_and_limits_hold(document: ParsedDocument, counter: TokenCounter):
    layout = lay_out(document)
    made = units(ORIGIN, layout, tokens=counter, limits=SMALL)
    passages = [each for each in made if each.kind is Kind.PASSAGE]
    assert assemble_text(made) == layout.text
    assert [each.ordinal for each in passages] == list(range(len(passages)))
    measure = Measure(counter)
    for each in passages:
        assert each.text.strip()
        assert measure.length(each.text) <= SMALL.passage(counter.window)
        assert counter.count(each.context) <= counter.window
        assert each.text.strip() in each.context
        place = each.location
        assert each.text.endswith(layout.text[place.char_start : place.char_end])
    assert made == units(ORIGIN, layout, tokens=counter, limits=SMALL)


@settings(max_examples=100, deadline=None)
@given(documents)
def test_ids_are_unique_and_parents_exist(document: ParsedDocument):
    made = units(ORIGIN, lay_out(document), tokens=CharacterCounter(52), limits=SMALL)
    known = {each.id for each in made}
    assert len(known) == len(made)
    assert all(each.parent in known for each in made if each.kind is not Kind.ROOT)
    roots = [each for each in made if each.kind is Kind.ROOT]
    assert len(roots) == (1 if made else 0)


def reference_sections(text: str, limit: int) -> list[str]:
    """The seed's algorithm, line by line."""
    found = []
    current = ""
    for paragraph in re.split(r"\n\n+", text):
        if len(current) + len(paragraph) > limit and len(current) > 0:
            found.append(current.strip())
            current = paragraph
        else:
            current += "\n\n" + paragraph
    if len(current) > 0:
        found.append(current.strip())
    return found


paragraphs = st.lists(st.text(alphabet="ab \n", max_size=60), max_size=20)


@given(paragraphs, st.integers(1, 90), st.integers(2, 4))
def test_sections_equal_the_reference(parts: list[str], limit: int, gap: int):
    text = ("\n" * gap).join(parts)
    expected = [each for each in reference_sections(text, limit) if each]
    assert [each.text for each in sections(text, limit=limit)] == expected


@given(paragraphs, st.integers(1, 90))
def test_sections_know_their_place(parts: list[str], limit: int):
    text = "\n\n".join(parts)
    squeezed = re.compile(r"\n\n+")
    for each in sections(text, limit=limit):
        assert squeezed.sub("\n\n", text[each.start : each.end]).strip() == each.text
