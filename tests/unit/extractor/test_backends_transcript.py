from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, EmptyFile
from eunoe_extractor.backends import transcript
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument
from hypothesis import given
from hypothesis import strategies as st

Read = Callable[..., ParsedDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(content: str | bytes, **options: int) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return transcript.parse(path, name="a.vtt", options=ParseOptions(**options))

    return reader


def turns(document: ParsedDocument) -> list[tuple[str, str, float | None, float | None]]:
    return [(block.speaker, block.text, block.start_s, block.end_s) for block in document.blocks]


VTT = """WEBVTT - Interview
Kind: captions
Language: en-GB

NOTE made by
hand

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.500 align:start
<v Ann Lee>Hello <b>there</b> &amp; <00:00:01.500>welcome

00:02.500 --> 00:04.000
<v.loud Ann Lee>to the <c.red>show</c></v>

01:00:05.000 --> 01:00:06.000
<v Bob>Thanks.</v> <v Ann Lee>So?
"""


def test_webvtt(read: Read):
    document = read(VTT)
    assert (document.format_id, document.title) == ("vtt", "Interview")
    assert document.metadata == {"charset": "utf-8", "language": "en-GB"}
    assert document.warnings == ()
    assert turns(document) == [
        ("Ann Lee", "Hello there & welcome to the show", 1.0, 4.0),
        ("Bob", "Thanks.", 3605.0, 3606.0),
        ("Ann Lee", "So?", 3605.0, 3606.0),
    ]


def test_subrip(read: Read):
    document = read(
        "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\n{\\an8}<i>Bonjour</i>,\r\nle monde.\r\n\r\n"
        "2\r\n00:00:02,5 --> 00:00:03,000\r\n42 < 43\r\n"
        "3\r\n0:00:20,000 --> 0:00:21,000\r\n日本\r\n\r\n4\r\n00:00:21,000 --> 00:00:22,000\r\n語です\r\n"
    )
    assert document.format_id == "srt"
    assert turns(document) == [("", "Bonjour, le monde. 42 < 43", 1.0, 3.0), ("", "日本語です", 20.0, 22.0)]


def test_labels_that_come_again_are_speakers(read: Read):
    cues = ["Ann: Good morning", "Bob Z.: Morning", "Note: nobody", "Ann: We go on\nBob Z.: Yes"]
    document = read("WEBVTT\n\n" + "".join(f"00:0{number}.000 --> 00:0{number}.900\n{cue}\n\n" for number, cue in enumerate(cues)))
    assert [turn[:2] for turn in turns(document)] == [
        ("Ann", "Good morning"),
        ("Bob Z.", "Morning"),
        ("", "Note: nobody"),
        ("Ann", "We go on"),
        ("Bob Z.", "Yes"),
    ]


def test_captions_that_roll_are_read_once(read: Read):
    document = read(
        "WEBVTT\n\n00:00.000 --> 00:02.310\n \nhello<00:00:00.500><c> world</c>\n\n00:02.310 --> 00:02.320\nhello world\n \n\n"
        "00:02.320 --> 00:04.000\nhello world\nthis<00:00:03.000><c> is</c>\n\n00:04.000 --> 00:05.000\nthis is new text\n\n"
        "00:05.000 --> 00:06.000\nthis is new text and more\n"
    )
    assert turns(document) == [("", "hello world this is this is new text and more", 0.0, 6.0)]


def test_what_is_said_again_later_is_kept(read: Read):
    document = read("WEBVTT\n\n00:01.000 --> 00:02.000\nYeah\n\n00:03.000 --> 00:04.000\nYeah\n")
    assert turns(document) == [("", "Yeah Yeah", 1.0, 4.0)]


def test_blocks_have_some_hundred_characters_and_all_cues(read: Read):
    cues = "".join(
        f"{number}\n00:{number // 60:02}:{number % 60:02},000 --> 00:{number // 60:02}:{number % 60:02},900\nword{number} is said here\n\n"
        for number in range(2000)
    )
    document = read(cues)
    words = [word for block in document.blocks for word in block.text.split() if word.startswith("word")]
    assert words == [f"word{number}" for number in range(2000)]
    assert all(300 < len(block.text) <= 500 for block in document.blocks[:-1])
    assert document.blocks[1].start_s == float(document.blocks[1].text.split()[0].removeprefix("word"))


def test_a_pause_ends_a_block(read: Read):
    assert len(read("WEBVTT\n\n00:01.000 --> 00:02.000\na\n\n00:30.000 --> 00:31.000\nb\n").blocks) == 2


def test_broken_time_lines(read: Read):
    document = read(
        "1\n00:00:01,000 --> 00:00:02,000\nfine\n\n2\n00:00:xx --> oops\nwithout times\n\n3\n00:00:09,000 --> 00:00:08,000\nbackwards\n"
    )
    assert turns(document) == [("", "fine", 1.0, 2.0), ("", "without times", None, None), ("", "backwards", 9.0, None)]
    assert document.warnings == ("2 time lines are broken; the text there was read without its times",)


def test_cut_off(read: Read):
    assert turns(read("1\n00:00:01,000 --> 00:00:02,000\nfirst\n\n2\n00:00:03,0")) == [("", "first 2 00:00:03,0", 1.0, 2.0)]
    assert read("WEBVTT\n\n00:01.000 --> 00:02").blocks == ()


def test_empty_lines_and_text_around_cues_lose_nothing(read: Read):
    document = read("Before\n\n1\n\n00:00:01,000 --> 00:00:02,000\none\n\nstill one\n\n2\n00:00:02,000 --> 00:00:03,000\ntwo\n")
    assert turns(document) == [("", "Before", None, None), ("", "one still one two", 1.0, 3.0)]


def test_no_time_lines_at_all(read: Read):
    document = read("Just some\nwords.\n\nMore.")
    assert [block.text for block in document.blocks] == ["Just some\nwords.", "More."]
    assert "no time lines" in document.warnings[0]


def test_legacy_character_set(read: Read):
    text = "1\n00:00:01,000 --> 00:00:02,000\nÀ bientôt, mon frère, c'était très agréable\n"
    assert "c'était très" in read(text.encode("cp1252")).text
    assert "c'était très" in read(text.encode("utf-16")).text


def test_empty(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    for nothing in (" \n", "WEBVTT", "WEBVTT\nKind: captions\n", "WEBVTT\n\nNOTE x\n", "1\n00:00:01,000 --> 00:00:02,000\n<b> </b>\n"):
        assert read(nothing).blocks == ()


@pytest.mark.parametrize("piece", ["<v ", "<b", "{\\", "a: ", "&amp", "-->\n", "00:00:01,000 --> 00:00:02,000\n", "\n", "1\n", "<v a>x"])
def test_hostile_repetition(read: Read, piece: str):
    read("1\n00:00:01,000 --> 00:00:02,000\n" + piece * 60_000)


def test_number_of_blocks_and_absurd_times(read: Read):
    with pytest.raises(BudgetExceeded):
        read("WEBVTT\n\n" + "00:01.000 --> 00:02.000\n<v A>x <v B>y\n\n" * 100, max_blocks=50)
    document = read("1\n99999:999:999,999999999 --> 99999:999:999,999999999\nfar\n\n2\n999999999999:00:00,000 --> 1\nfarther\n")
    assert document.text == "far\n\nfarther"


@given(st.lists(st.sampled_from(["word", "1", "00:01.000 --> 00:02.000", "-->", "", "Ann: word", "<v Bob>word", "x"]), max_size=20))
def test_no_word_is_lost(tmp_path_factory: pytest.TempPathFactory, lines: list[str]):
    path = tmp_path_factory.getbasetemp() / "property.srt"
    numbered = [line.replace("word", f"word{number}.") for number, line in enumerate(lines)]
    path.write_text("\n".join(numbered) + "\n", encoding="utf-8")
    text = transcript.parse(path, name="x", options=ParseOptions()).text
    for number, line in enumerate(lines):
        is_name = lines[number + 1 : number + 2] and "-->" in lines[number + 1]  # the name of a cue
        assert "word" not in line or is_name or f"word{number}." in text
