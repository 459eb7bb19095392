from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, EmptyFile
from eunoe_extractor.backends import rst
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
        return rst.parse(path, name="a.rst", options=ParseOptions(**options))

    return reader


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


def test_sections(read: Read):
    document = read(
        "====\nMain\n====\n:Author: Ann\n:Date: 2024-01-02\n\nintro\n\nPart\n====\nText\n\nDeep\n----\nx\n\nPart 2\n======\n\n----\n\ny\n"
    )
    assert document.title == "Main"
    assert document.metadata == {"charset": "utf-8", "author": "Ann", "created": "2024-01-02"}
    assert [(block.text, block.level, block.heading_path) for block in document.blocks] == [
        ("Main", 1, ()),
        ("Author: Ann\nDate: 2024-01-02", 0, ("Main",)),
        ("intro", 0, ("Main",)),
        ("Part", 2, ("Main",)),
        ("Text", 0, ("Main", "Part")),
        ("Deep", 3, ("Main", "Part")),
        ("x", 0, ("Main", "Part", "Deep")),
        ("Part 2", 2, ("Main",)),
        ("y", 0, ("Main", "Part 2")),
    ]


def test_inline_marks(read: Read):
    text = read(
        "With **bold**, *soft*, ``lit*er_al``, :ref:`a label <target>`, "
        "`a link <http://x>`_, `words`_, name_ and 2 * 3 * 4, a\\*b, [1]_, x_y_z.\n"
    ).text
    assert text == "With bold, soft, lit*er_al, a label, a link, words, name and 2 * 3 * 4, a*b, [1], x_y_z."


def test_lists_quotes_and_listings(read: Read):
    document = read(
        "- one\n  more\n\n  - nested\n\n- two\n\n1. first\n#. second\n\n  a quote\n  goes on\n\nterm\n    its meaning\n\n"
        "Code::\n\n    x = 1\n\n      y\n\n>>> 1 + 1\n2\n\n| line one\n| line two\n"
    )
    assert shown(document) == [
        ("list", "- one\n  more\n\n  - nested\n\n- two\n\n1. first\n#. second\n\n  a quote\n  goes on"),
        ("paragraph", "term\n    its meaning"),
        ("paragraph", "Code:"),
        ("code", "x = 1\n\n  y"),
        ("code", ">>> 1 + 1\n2"),
        ("paragraph", "line one\nline two"),
    ]
    assert shown(read("Said:\n\n  wise *words*\n  here\n")) == [("paragraph", "Said:"), ("quote", "wise words\nhere")]


def test_nothing_is_included(read: Read, tmp_path: Path):
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    assert (
        "SECRET"
        not in read(
            f".. include:: {tmp_path}/secret\n\n.. raw:: html\n   :file: {tmp_path}/secret\n\n.. csv-table::\n   :file: secret\n"
        ).text
    )


def test_other_scripts_and_character_sets(read: Read):
    document = read("見出し\n======\n\n本文です。\n")
    assert (document.title, document.blocks[1].text) == ("見出し", "本文です。")
    assert "naïve café déjà" in read("Title\n=====\n\nnaïve café déjà vu, très bien\n".encode("cp1252")).text


def test_damaged_and_cut_off(read: Read):
    assert "last" in read("==== ====\na    b\n==== ====\nx    y\n\nlast").text
    assert "x" in read("+---+---+\n| x |").text
    assert read(".. code-block:: python").blocks == ()
    assert "oops" in read("Title\n==\n\n    oops\n  less\n ever\n").text
    assert "here" in read("`open *marks ``here").text


def test_empty(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    for nothing in (" \n\n\t", "..\n", "====\n", ".. note::\n", "::\n", "+--+\n"):
        assert read(nothing).blocks == ()


def test_depth(read: Read):
    nested = read("".join("   " * depth + ".. note:: level\n\n" for depth in range(500)) + "   " * 500 + "deepest")
    assert "deepest" in nested.text
    assert nested.text.count("level") == 500


@pytest.mark.parametrize(
    "piece",
    ["`", "``", "*a ", "**a", "a_ ", "\\ ", "== ==\na b\n", "+-+\n", "+-+-+\n|a|b\n", "====\n",
     "- a\n\n", "::\n", ".. a::\n", ":a: b\n", " ", "|", ">>> ", "\t"],
)  # fmt: skip
def test_hostile_repetition(read: Read, piece: str):
    read(piece * 30_000)


def test_absurd_sizes(read: Read):
    with pytest.raises(BudgetExceeded):
        read("a\n\n" * 100, max_blocks=50)
    assert "x" in read("\t" * 2_100_000 + "x").text


LINES = (
    "word", "====", "----", "", "- word", "  word", ".. note:: word", "word::", "+--+--+", "| word | x |", ":word: word", "== ==",
    "> word", "**word**",
)  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=25))
def test_no_word_is_lost(tmp_path_factory: pytest.TempPathFactory, lines: list[str]):
    path = tmp_path_factory.getbasetemp() / "property.rst"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = rst.parse(path, name="x", options=ParseOptions()).text
    assert text.count("word") == sum(line.count("word") for line in lines)
