"""Where passages end: headings, definitions, rows, turns, sentences, words, graphemes."""

from __future__ import annotations

import itertools
import time
from uuid import UUID

from eunoe_contracts.content import Kind, Unit, assemble_text
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from eunoe_extractor.segments.bound import items, paragraphs, sentences
from eunoe_extractor.segments.definition import inner_definitions, outer_definitions
from eunoe_extractor.segments.grapheme import is_bound
from eunoe_extractor.segments.layout import lay_out
from eunoe_extractor.segments.limits import Limits
from eunoe_extractor.segments.outline import Origin, units
from eunoe_models.embedding.characters import CharacterCounter

DOCUMENT = UUID("00000000-0000-5000-8000-000000000001")


def passages(*blocks: Block, tokens: int = 50, format_id: str = "markdown") -> list[Unit]:
    document = ParsedDocument(format_id, blocks=blocks)
    limits = Limits(passage_tokens=tokens, header_tokens=10)
    made = units(Origin(DOCUMENT, 1, "notes"), lay_out(document), tokens=limits.without_embedder(), limits=limits)
    return [each for each in made if each.kind is Kind.PASSAGE]


def paragraph(text: str, *path: str, speaker: str = "") -> Block:
    return Block(BlockKind.PARAGRAPH, text, heading_path=path, speaker=speaker)


def heading(text: str, level: int, *path: str) -> Block:
    return Block(BlockKind.HEADING, text, level=level, heading_path=path)


def test_a_passage_ends_at_a_heading_and_headings_stay_with_their_text():
    made = passages(
        heading("Guide", 1),
        heading("Install", 2, "Guide"),
        paragraph("Run the installer.", "Guide", "Install"),
        heading("Use", 2, "Guide"),
        paragraph("Start it.", "Guide", "Use"),
    )
    assert [each.text for each in made] == ["# Guide\n\n## Install\n\nRun the installer.", "## Use\n\nStart it."]
    assert [each.location.heading_path for each in made] == [("Guide", "Install"), ("Guide", "Use")]


def test_short_paragraphs_under_one_heading_are_packed():
    made = passages(*(paragraph(f"Paragraph number {at}.") for at in range(4)))
    assert len(made) == 1


def test_a_long_paragraph_is_cut_between_sentences():
    text = " ".join(f"Sentence number {at} says something about the sea." for at in range(20))
    made = passages(paragraph(text))
    assert len(made) > 1
    assert all(each.text.rstrip().endswith("sea.") and each.text.startswith("Sentence") for each in made)


def test_a_paragraph_under_a_heading_does_not_leave_it_alone():
    text = " ".join(f"Sentence number {at} is here." for at in range(8))
    first = passages(heading("A heading of its own", 1), paragraph(text, "A heading of its own"))[0]
    assert first.text.startswith("# A heading of its own\n\nSentence number 0")


def test_a_table_is_cut_between_rows_with_its_header_repeated():
    rows = [(f"name {at}", f"value {at}") for at in range(30)]
    lines = ["| name | value |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)]
    made = passages(Block(BlockKind.TABLE, "\n".join(lines), header=("name", "value"), rows=tuple(rows)))
    assert len(made) > 1
    assert all(each.text.startswith("| name | value |\n| --- | --- |\n| name") for each in made)
    assert all(each.text.rstrip().endswith("|") for each in made)
    assert assemble_text(made) == "\n".join(lines)


CODE = '''import os


# Adds two numbers.
@cached
def add(left, right):
    """Sum."""
    return left + right


class Shape:
    """A shape."""

    def area(self):
        return 0

    def name(self):
        return "shape"


def last():
    return os.name
'''


def test_code_is_cut_before_definitions_with_their_comments():
    starts = [CODE[at:].split("\n", maxsplit=1)[0] for at in outer_definitions(CODE)]
    assert starts == ["# Adds two numbers.", "class Shape:", "def last():"]
    assert [CODE[at:].split("\n", maxsplit=1)[0].strip() for at in inner_definitions(CODE)] == ["def area(self):", "def name(self):"]


def test_functions_stay_whole_and_a_source_file_gets_no_fences():
    made = passages(Block(BlockKind.CODE, CODE, language="python"), tokens=32, format_id="code")
    assert all("```" not in each.text for each in made)
    assert any("# Adds two numbers.\n@cached\ndef add" in each.text and "left + right" in each.text for each in made)
    assert assemble_text(made) == CODE.rstrip()


def test_other_languages_have_definitions_too():
    java = (
        "package a;\n\npublic class A {\n    private int b;\n\n    public int c(int d) {\n"
        "        if (d > 0) {\n        }\n        return d;\n    }\n}\n"
    )
    assert [java[at:].split("\n", maxsplit=1)[0].strip() for at in inner_definitions(java)] == ["public int c(int d) {"]
    go = "package a\n\n// Run runs.\nfunc Run() {\n}\n\ntype T struct {\n}\n"
    assert [go[at:].split("\n", maxsplit=1)[0] for at in outer_definitions(go)] == ["// Run runs.", "type T struct {"]


def test_a_passage_ends_where_the_speaker_changes():
    made = passages(paragraph("Hello.", speaker="Ann"), paragraph("How are you?", speaker="Ann"), paragraph("Fine.", speaker="Bo"))
    assert [(each.location.speaker, each.text) for each in made] == [("Ann", "Hello.\n\nHow are you?"), ("Bo", "Fine.")]


def test_an_endless_word_is_cut_between_graphemes():
    family = "\U0001f469\u200d\U0001f467"
    made = passages(paragraph(family * 200))
    assert len(made) > 1
    assert all(each.text.replace(family, "") == "" for each in made)


def test_grapheme_bounds():
    assert not is_bound("e\u0301", 1)
    assert not is_bound("\r\n", 1)
    assert not is_bound("\u1100\u1161", 1)
    assert not is_bound("\U0001f1e9\U0001f1ea", 1)
    assert is_bound("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 2)
    assert is_bound("ab", 1)


def test_sentence_bounds_know_abbreviations():
    text = "Dr. Smith paid 3.50 for it, e.g. twice. Then J. Doe left! \u4f60\u597d\u3002\u518d\u89c1"
    edges = [0, *sentences(text), len(text)]
    parts = [text[first:last] for first, last in itertools.pairwise(edges)]
    assert parts == ["Dr. Smith paid 3.50 for it, e.g. twice. ", "Then J. Doe left! ", "\u4f60\u597d\u3002", "\u518d\u89c1"]


def test_paragraph_and_item_bounds():
    assert paragraphs("a\n \n\n  b") == [5]
    assert items("- a\n  more\n- b\n2. c") == [11, 15]


def test_a_very_long_line_is_cut_in_reasonable_time():
    started = time.monotonic()
    made = passages(paragraph("x" * 2_000_000), tokens=500)
    assert len(made) == 1000
    assert time.monotonic() - started < 20


def test_unknown_tokens_do_not_make_endless_passages():
    class OneToken(CharacterCounter):
        def count(self, text: str) -> int:
            return len(text.split())

        def cut(self, text: str, tokens: int) -> int:
            return len(text)

    limits = Limits(passage_tokens=50, header_tokens=10)
    layout = lay_out(ParsedDocument("text", blocks=(paragraph("x" * 10_000),)))
    made = units(Origin(DOCUMENT, 1, "notes"), layout, tokens=OneToken(60), limits=limits)
    assert max(len(each.text) for each in made if each.kind is Kind.PASSAGE) <= 50 * 16
