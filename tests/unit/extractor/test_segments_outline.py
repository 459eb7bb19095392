"""Root, sections, parents and contextual texts."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from eunoe_contracts.content import Kind
from eunoe_contracts.identity import passage_id, root_id, section_id
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from eunoe_extractor.segments.context import header, spoken_date
from eunoe_extractor.segments.layout import lay_out
from eunoe_extractor.segments.length import Measure, document_length
from eunoe_extractor.segments.limits import Limits
from eunoe_extractor.segments.outline import Origin, units
from eunoe_models.embedding.characters import CharacterCounter

DOCUMENT = UUID("00000000-0000-5000-8000-000000000001")
COUNTER = CharacterCounter(254)


def long_document(paragraphs: int = 120) -> ParsedDocument:
    blocks = []
    for at in range(paragraphs):
        topic = ("harbour", "lighthouse", "weather", "fishing")[at * 4 // paragraphs]
        text = f"The {topic} keeper wrote entry number {at} about the {topic} in detail. " + f"It rained on the {topic} that day. " * 7
        blocks.append(Block(BlockKind.PARAGRAPH, text.strip(), page=1 + at // 10))
    return ParsedDocument("text", title="Log", blocks=tuple(blocks))


def test_a_short_document_has_a_root_that_is_its_text_and_not_indexed():
    layout = lay_out(ParsedDocument("text", blocks=(Block(BlockKind.PARAGRAPH, "Hello there."),)))
    root, passage = units(Origin(DOCUMENT, 1, "notes"), layout, tokens=COUNTER, limits=Limits())
    assert (root.kind, root.ordinal, root.id, root.text, root.indexed) == (Kind.ROOT, 0, root_id(DOCUMENT), "Hello there.", False)
    assert (passage.kind, passage.id, passage.parent, passage.indexed) == (Kind.PASSAGE, passage_id(DOCUMENT, 0), root.id, True)


def test_a_long_document_has_sections_and_a_summary():
    layout = lay_out(long_document())
    assert document_length(layout.text) >= 8000
    made = units(Origin(DOCUMENT, 2, "notes", title="Log"), layout, tokens=COUNTER, limits=Limits())
    root, sections = made[0], [each for each in made if each.kind is Kind.SECTION]
    passages = [each for each in made if each.kind is Kind.PASSAGE]
    assert root.indexed
    assert COUNTER.count(root.context) <= COUNTER.window
    assert COUNTER.count(root.text) <= Limits().passage(COUNTER.window)
    assert all(topic in root.text for topic in ("harbour", "lighthouse", "weather", "fishing"))
    assert root.text.startswith("The harbour keeper wrote entry number 0")
    assert [each.id for each in sections] == [section_id(DOCUMENT, at) for at in range(len(sections))]
    assert all(each.parent == root.id and not each.indexed and len(each.text) <= 3300 for each in sections)
    places = {each.id: each.location for each in sections}
    for each in passages:
        assert each.parent is not None
        place = places[each.parent]
        assert place.char_start <= each.location.char_start
        assert each.location.char_end <= place.char_end
    assert {each.generation for each in made} == {2}
    assert passages[-1].location.page == 12


def test_the_threshold_is_a_setting():
    layout = lay_out(ParsedDocument("text", blocks=(Block(BlockKind.PARAGRAPH, "Hello there, this is short."),)))
    made = units(Origin(DOCUMENT, 1, "notes"), layout, tokens=COUNTER, limits=Limits(section_threshold_tokens=2))
    assert [each.kind for each in made] == [Kind.ROOT, Kind.SECTION, Kind.PASSAGE]
    assert made[0].text == "Hello there, this is short."


def test_passages_of_a_turn_hang_on_the_session_and_know_the_turn_before():
    session = uuid4()
    layout = lay_out(ParsedDocument("text", blocks=(Block(BlockKind.PARAGRAPH, "Yes, on Sunday."),)))
    origin = Origin(DOCUMENT, 1, "chat", date="8 May 2023", speaker="Bo", session=session, before="Ann: Did you go hiking?")
    _, passage = units(origin, layout, tokens=COUNTER, limits=Limits())
    assert passage.parent == session
    assert passage.location.speaker == "Bo"
    assert passage.text == "Yes, on Sunday."
    assert passage.context == "8 May 2023 > Bo\nAnn: Did you go hiking?\nYes, on Sunday."


def test_the_context_holds_as_much_of_the_passage_before_as_the_window_leaves():
    layout = lay_out(long_document(12))
    first, second, *_ = (
        each
        for each in units(Origin(DOCUMENT, 1, "notes", title="Log"), layout, tokens=COUNTER, limits=Limits())
        if each.kind is Kind.PASSAGE
    )
    assert second.context.startswith("Log\n")
    assert second.context.endswith("\n" + second.text.strip())
    tail = second.context.removeprefix("Log\n").removesuffix("\n" + second.text.strip())
    assert tail
    assert first.text.strip().endswith(tail)
    assert COUNTER.window - 20 <= COUNTER.count(second.context) <= COUNTER.window


def test_a_long_header_loses_the_outer_headings_and_the_end_of_the_title_first():
    measure = Measure(COUNTER)
    path = ["Outer heading that is long", "Middle heading that is long", "Inner"]
    short = header(measure, title="A title", path=path, date="8 May 2023", speaker="Ann", limit=15)
    assert short == "A title > Inner > 8 May 2023 > Ann"
    very_short = header(measure, title="A title of many words that go on and on", path=[], date="8 May 2023", speaker="Ann", limit=10)
    assert very_short.endswith("> 8 May 2023 > Ann")
    assert very_short.startswith("A title")
    assert measure.length(very_short) <= 10


def test_a_heading_that_repeats_the_title_stands_once():
    assert header(Measure(COUNTER), title="Log", path=["Log", "Day 1"], date="", speaker="", limit=48) == "Log > Day 1"


def test_dates_are_spoken():
    assert spoken_date(datetime(2023, 5, 8, tzinfo=UTC)) == "8 May 2023"


def test_without_text_there_are_no_units():
    layout = lay_out(ParsedDocument("text", blocks=(Block(BlockKind.PARAGRAPH, " \n "),)))
    assert units(Origin(DOCUMENT, 1, "notes"), layout, tokens=COUNTER, limits=Limits()) == []
