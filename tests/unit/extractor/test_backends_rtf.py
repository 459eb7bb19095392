from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile
from eunoe_extractor.backends import rtf
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument

Read = Callable[..., ParsedDocument]
HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fcharset128 \'82\'6c;}{\f2\fcharset238 Times;}}"
    r"{\colortbl;\red0\green0\blue0;}{\stylesheet{\s1 heading 1;}{\s2\v heading 2;}{\*\cs3 Char;}{\s4 Title;}}"
    r"{\info{\title The plan}{\author Ann}{\creatim\yr2024}{\*\company Secret}}"
)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(source: str | bytes, **limits: int) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(source.encode("latin-1") if isinstance(source, str) else source)
        return rtf.parse(path, name="x.rtf", options=ParseOptions(**limits))

    return reader


def texts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(each.kind.value, each.text) for each in document.blocks]


def test_headings_paragraphs_and_properties(read: Read):
    document = read(
        HEAD + r"\pard\s1 First\par\pard\outlinelevel1 Inner\par\pard One {\b two}\line three\par\par\pard\s4 Top\par\pard end}"
    )
    assert (document.title, document.metadata) == ("The plan", {"author": "Ann"})
    assert [(each.kind.value, each.text, each.level) for each in document.blocks] == [
        ("heading", "First", 1),
        ("heading", "Inner", 2),
        ("paragraph", "One two\nthree", 0),
        ("heading", "Top", 1),
        ("paragraph", "end", 0),
    ]
    assert document.blocks[2].heading_path == ("First", "Inner")
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"caf\'e9 \u8364?5", "café €5"),
        (r"\f1 \'93\'fa\'96\'7b \'95\\", "日本 表"),
        (r"\f1 \'83A\'83\{", "アボ"),
        (r"\f2 \'e8e\'9aka", "češka"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"\uc2\u1078\'86\'a6\uc0\u1099", "жы"),
        (r"a\~b\_c\-d\emdash e\tab f\{\}\\", "a\xa0b\u2011cd\u2014e\tf{}\\"),
        (r"{\upr{ab}{\*\ud{\u1078?b}}}", "жb"),
        (r'{\field{\*\fldinst{HYPERLINK "http://x.example"}}{\fldrslt{a link}}}', "a link"),
        (r"{\object\objemb{\*\objdata 0102}{\result shown}}", "shown"),
        (r"{\*\unknown gone}{\pict\pngblip 89504e47}{\pict\bin5 }}}{{}{\xe index}kept", "kept"),
        ("one\\\ntwo", "one|two"),
        (r"keep {\deleted gone }this", "keep this"),
    ],
)
def test_characters(read: Read, source: str, text: str):
    document = read(HEAD + r"\pard " + source + r"\par}")
    assert "|".join(each.text for each in document.blocks) == text


def test_code_page_of_the_document(read: Read):
    assert read(r"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2}").text == "Привет"
    assert read(r"{\rtf1\mac\ansicpg99999 \'8e}").text == "é"
    assert read(b"{\\rtf1\\ansi\\ansicpg65001 \xd0\xb6}").text == "ж"
    assert "1 characters" in read(r"{\rtf1\ansi\ansicpg932 a\'83}").warnings[0]


def test_tables(read: Read):
    rows = "".join(rf"\trowd\cellx1\pard\intbl {a}\cell {b}\cell\row " for a, b in (("Name", "Age"), (r"Ann\par B.|x", "41"), ("", "7")))
    document = read(HEAD + r"\pard before\par " + rows + r"\pard after\par " + rows + "}")
    assert [each.kind.value for each in document.blocks] == ["paragraph", "table", "paragraph", "table"]
    assert (document.blocks[1].header, document.blocks[1].rows) == (("Name", "Age"), (("Ann B.|x", "41"), ("", "7")))
    assert [each.text for each in document.blocks if each.kind == "paragraph"] == ["before", "after"]


def test_all_rows_of_a_table(read: Read):
    table = read(r"{\rtf1 Id\cell W\cell\row " + "".join(rf"{n}\cell w{n}\cell\row " for n in range(1000)) + "}")
    assert {each.header for each in table.blocks} == {("Id", "W")}
    assert [row for each in table.blocks for row in each.rows] == [(str(n), f"w{n}") for n in range(1000)]


def test_lists(read: Read):
    item = r"{\listtext\pard\plain 1.\tab}\pard\ls1\ilvl0 first\par{\listtext\pard a)\tab}\pard\ilvl1 inner\par"
    document = read(HEAD + item + r"{\pntext\f2\'B7\tab}\pard second\par\pard plain\par}")
    assert texts(document) == [("list", "1. first\n  a. inner\n- second"), ("paragraph", "plain")]


def test_notes_comments_boxes_and_margins(read: Read):
    source = (
        r"{\header\pard Secret paper\par}{\footer\pard{\field{\fldrslt 7}}\par}\pard\s1 Head{\footnote\pard\plain\chftn  A note.\par}\par"
        r"\pard text{\*\atnid B}{\*\atnauthor Bob}\chatn{\*\annotation\pard Really?}"
        r"{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt\pard In a box\par}}{\shprslt{\*\do{\dptxbxtext In a box}}}}.\par}"
    )
    assert texts(read(HEAD + source)) == [
        ("heading", "Head[1]"),
        ("paragraph", "[1] A note."),
        ("paragraph", "text."),
        ("paragraph", "Comment (Bob): Really?"),
        ("paragraph", "In a box"),
        ("paragraph", "Secret paper"),
    ]


def test_hidden_text_is_told(read: Read):
    document = read(HEAD + r"\pard seen {\v obey me}\v0  end\par}")
    assert "obey me" in document.text
    assert document.warnings == ("the document has hidden text, which was read too",)


def test_no_text_gives_no_blocks(read: Read):
    assert read(HEAD + r"\pard\par\par}").blocks == ()
    assert read(r"{\rtf1}").blocks == ()


def test_what_stands_behind_the_end_is_no_text(read: Read):
    assert read(r"{\rtf1 a\par}" + "\0\0 rest}}{{").text == "a"


@pytest.mark.parametrize(
    "source", ["no rich text", "{\\rt", HEAD + r"{\b cut", HEAD[:100], r"{\rtf1 a{\pict\bin900000000 x}", r"{\rtf1\footnote x"]
)
def test_damaged(read: Read, source: str):
    with pytest.raises(CorruptDocument):
        read(source)


def test_empty_and_missing_end(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    document = read(r"{\rtf1 some words\par more")
    assert document.text == "some words\n\nmore"
    assert "no end mark" in document.warnings[0]


@pytest.mark.parametrize(
    "source",
    [
        "{\\rtf1" + "{" * 100_000,
        r"{\rtf1" + r"{\field{\*\fldinst{ HYPERLINK " * 50_000,
        r"{\rtf1" + r"{\footnote" * 50_000,
    ],
)
def test_deep_nesting_ends_at_once(read: Read, source: str):
    with pytest.raises(CorruptDocument):
        read(source)


def test_hostile_words_stay_quick(read: Read):
    assert read(r"{\rtf1" + r"{\f1\fcharset" * 1000 + "}" * 1000 + r"\u9999999999?\uc-5\ilvl999999\s-1\outlinelevel99\bin-9 x}").text == "x"
    assert read(r"{\rtf1{\footnote\footnote\header x}y\cell{\cell}\row\row\par}").blocks
    with pytest.raises(BudgetExceeded):
        read(r"{\rtf1 " + r"x\par " * 20 + "}", max_blocks=10)
