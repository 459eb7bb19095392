from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, EmptyFile
from eunoe_extractor.backends import delimited
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument
from hypothesis import given
from hypothesis import strategies as st

Read = Callable[..., ParsedDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(content: str | bytes, name: str = "a.csv", **options: int) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return delimited.parse(path, name=name, options=ParseOptions(**options))

    return reader


def rows(document: ParsedDocument) -> list[tuple[str, ...]]:
    return [row for block in document.blocks for row in block.rows]


def test_header_and_rows(read: Read):
    document = read('name,age\r\nAnn,41\r\n"Bob, jr.",7\r\n"two\r\nlines","say ""hi"" | x"\r\n')
    (table,) = document.blocks
    assert document.format_id == "csv"
    assert table.header == ("name", "age")
    assert table.rows == (("Ann", "41"), ("Bob, jr.", "7"), ("two lines", 'say "hi" | x'))
    assert document.metadata == {"charset": "utf-8"}
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("content", "header", "first"),
    [
        ('a;b\n"1;5";2,5\n3;4,5\n', ("a", "b"), ("1;5", "2,5")),
        ("a|b|c\n1|2|3\n", ("a", "b", "c"), ("1", "2", "3")),
        ("a\tb\n1,5\t2,5\n", ("a", "b"), ("1,5", "2,5")),
        ("sep=;\na;b\n1;2\n", ("a", "b"), ("1", "2")),
        ("'a','b'\n'x,y','2'\n'q','3'\n", ("a", "b"), ("x,y", "2")),
        ('a,b\n"say \\"hi\\", you",2\n', ("a", "b"), ('say "hi", you', "2")),
        ('a, b\n1, "x, y"\n', ("a", "b"), ("1", "x, y")),
        ("only\none\ntwo\n", ("only",), ("one",)),
        ("a\rb\r1\r", ("a",), ("b",)),
    ],
)
def test_delimiter_and_quotes_are_found(read: Read, content: str, header: tuple[str, ...], first: tuple[str, ...]):
    (table,) = read(content).blocks
    assert (table.header, table.rows[0]) == (header, first)


def test_tabs_make_it_tsv(read: Read):
    document = read("a, b\tc\n1, 2\t3\n", "a.tsv")
    assert document.format_id == "tsv"
    assert document.blocks[0].header == ("a, b", "c")


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("1,2\n3,4\n", ("Column 1", "Column 2")),
        ("Ann,a@x.example\nBob,b@x.example\n", ("Column 1", "Column 2")),
        ("red,up\nred,down\nblue,up\n", ("Column 1", "Column 2")),
        ("country,2019,2020\nChad,1,2\n", ("country", "2019", "2020")),
        ("名前,住所\n佐藤,東京\n三木,大阪\n", ("名前", "住所")),
    ],
)
def test_header_is_recognised(read: Read, content: str, header: tuple[str, ...]):
    document = read(content)
    assert document.blocks[0].header == header
    assert len(rows(document)) == content.count("\n") - (header[0] != "Column 1")


def test_lines_above_the_header_are_text(read: Read):
    title, note, table = read("Cups,,\nas of today,,\n\nTeam,City,Won\nBlues,STL,1\n").blocks
    assert (title.text, note.text) == ("Cups", "as of today")
    assert table.header == ("Team", "City", "Won")


def test_all_rows_come_out_in_parts_with_the_header(read: Read):
    document = read("id,name\n" + "".join(f"{number},n{number}\n" for number in range(1234)))
    assert rows(document) == [(str(number), f"n{number}") for number in range(1234)]
    assert {block.header for block in document.blocks} == {("id", "name")}
    assert [len(block.rows) for block in document.blocks] == [200] * 6 + [34]


def test_a_long_header_is_not_repeated_more_than_the_rows_are_worth(read: Read):
    header = ",".join("h" * 150 + str(number) for number in range(100))
    content = f"{header}\n" + ("1," * 99 + "1\n") * 1000
    document = read(content)
    assert len(rows(document)) == 1000
    assert len(document.text) < 4 * len(content)


@pytest.mark.parametrize(
    ("codec", "text", "mark"),
    [
        ("utf-8-sig", "naïve,b\nx,1\n", b""),
        ("utf-16", "naïve,b\nx,1\n", b""),
        ("utf-16-be", "naïve,b\nx,1\n", b"\xfe\xff"),
    ],
)
def test_byte_order_marks(read: Read, codec: str, text: str, mark: bytes):
    assert read(mark + text.encode(codec)).blocks[0].header == ("naïve", "b")


def test_legacy_character_sets(read: Read):
    document = read(("имя,город\n" + "Пётр Иванов,Москва\nЖенщина,Нижний Новгород\n" * 5).encode("cp1251"))  # noqa: RUF001
    assert document.blocks[0].header == ("имя", "город")
    assert "guessed" in document.warnings[0]
    assert read("名前,年齢,住所\r\n佐藤太郎,30,東京\r\n三木英子,25,大阪\r\n".encode("cp932")).blocks[0].rows[0] == (
        "佐藤太郎",
        "30",
        "東京",
    )


def test_ragged_rows_keep_all_cells(read: Read):
    document = read("a,b\n1\n2,3\n4,5,6,7\n\n8,9\n")
    assert document.blocks[0].header == ("a", "b", "", "")
    assert rows(document) == [("1", "", "", ""), ("2", "3", "", ""), ("4", "5", "6", "7"), ("8", "9", "", "")]


def test_a_quote_that_is_never_closed_is_a_character(read: Read):
    document = read('a,b\n"x,1\n' + "2,3\n" * 500)
    assert rows(document)[:2] == [('"x', "1"), ("2", "3")]
    assert len(rows(document)) == 501
    assert "never ends" in document.warnings[0]


def test_many_open_quotes_end_in_time_and_lose_nothing(read: Read):
    document = read("a,b\n" + '"w,1\n' * 20_001)
    assert document.text.count("w") == 20_001


def test_cut_off_inside_a_quoted_field(read: Read):
    document = read('a,b\n1,"long text that\nis cut')
    assert "long text that" in document.text
    assert "is cut" in document.text


def test_a_line_of_fifty_megabytes(read: Read):
    (table,) = read("head\n" + "x" * 50_000_000).blocks
    assert len(table.rows[0][0]) == 50_000_000


def test_a_very_wide_row_is_text(read: Read):
    document = read("a,b\n1,2\n" + ",".join(f"w{number}" for number in range(30_000)) + "\n3,4\n")
    assert rows(document) == [("1", "2"), ("3", "4")]
    assert all(f"w{number}" in document.text for number in (0, 499, 500, 29_999))
    assert "more than 2000 cells" in document.warnings[0]


def test_padding_is_bounded(read: Read):
    with pytest.raises(BudgetExceeded):
        read(",".join(f"c{number}" for number in range(1900)) + "\n" + "a\n" * 100_000)


def test_number_of_blocks_is_bounded(read: Read):
    with pytest.raises(BudgetExceeded):
        read("a,b\n" + "1,2\n" * 5000, max_blocks=10)


def test_empty(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    for nothing in (" \n\n\t\n", "\ufeff", ",,,\n,,,\n", "\x00\x00"):
        assert read(nothing).blocks == ()


def test_limit_of_the_csv_module_is_left_as_it_was(read: Read):
    before = csv.field_size_limit()
    read("a,b\n1,2\n")
    assert csv.field_size_limit() == before


@given(
    st.lists(st.lists(st.sampled_from(["w", "x y", "", "1", 'q"', "a,b", "l\nm", "日本"]), min_size=1, max_size=4), min_size=1, max_size=12)
)
def test_no_cell_is_lost(tmp_path_factory: pytest.TempPathFactory, table: list[list[str]]):
    path = tmp_path_factory.getbasetemp() / "property.csv"
    stream = io.StringIO()
    csv.writer(stream).writerows(table)
    path.write_text(stream.getvalue(), encoding="utf-8")
    text = " ".join(delimited.parse(path, name="x.csv", options=ParseOptions()).text.split())
    for word in ("w", "日本", 'q"', "l m", "a,b"):
        assert text.count(word) >= sum(" ".join(cell.split()) == word for row in table for cell in row)
