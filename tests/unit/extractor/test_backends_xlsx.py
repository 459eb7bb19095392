from __future__ import annotations

import datetime as dt
import struct
import zipfile
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile, EncryptedDocument
from eunoe_extractor.backends import xlsx
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument
from openpyxl import Workbook
from openpyxl.comments import Comment

SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}<sheetData>{}</sheetData>{}</worksheet>'


def read(path: Path, **limits: int) -> ParsedDocument:
    return xlsx.parse(path, name="x.xlsx", options=ParseOptions(**limits))


def rewritten(path: Path, members: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path) as archive:
        kept: dict[str, str | bytes] = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (kept | members).items():
            archive.writestr(name, data)
    return path


def with_sheet(path: Path, rows: str, before: str = "", after: str = "") -> Path:
    Workbook().save(path)
    return rewritten(path, {"xl/worksheets/sheet1.xml": SHEET.format(before, rows, after)})


def test_sheets_values_comments_and_properties(tmp_path: Path):
    book = Workbook()
    book.properties.title, book.properties.creator = "Plan", "Ann"
    sheet = book.active
    sheet.title = "Продажи"
    moment = dt.datetime.fromisoformat("2024-01-02T03:04:05")
    rows = [("Name", "Day", "At", "Share", "Paid"), ("Ännchen", dt.date(2024, 2, 29), moment, 0.1 + 0.2, True)]
    for row in [*rows, ("b|c\nd", None, dt.time(7, 30), 7, False)]:
        sheet.append(row)
    sheet["A2"].comment = Comment("Is she\nnew?", "Bob")
    other = book.create_sheet("Secret")
    other["B2"] = "only one"
    other.sheet_state = "hidden"
    book.create_sheet("Nothing")
    book.save(tmp_path / "a")
    document = read(tmp_path / "a")
    assert (document.title, document.metadata["author"]) == ("Plan", "Ann")
    head, table, comments, comment, secret, one = document.blocks
    assert (head.text, head.level, comments.text, comments.level) == ("Продажи", 1, "Comments", 2)
    assert table.header == ("Name", "Day", "At", "Share", "Paid")
    assert table.rows == (("Ännchen", "2024-02-29", "2024-01-02T03:04:05", "0.3", "TRUE"), ("b|c d", "", "07:30:00", "7", "FALSE"))
    assert comment.text == "- A2 (Bob): Is she new?"
    assert comment.heading_path == ("Продажи", "Comments")
    assert (secret.text, one.text, one.heading_path) == ("Secret", "only one", ("Secret",))
    assert document.warnings == ("hidden sheets were read too; there are 1",)


def test_all_rows_with_the_header_in_each_part(tmp_path: Path):
    book = Workbook()
    for row in [("Id", "Word"), *((number, f"word{number}") for number in range(1, 1001))]:
        book.active.append(row)
    book.save(tmp_path / "a")
    tables = read(tmp_path / "a").blocks[1:]
    assert len(tables) == 5
    assert {each.header for each in tables} == {("Id", "Word")}
    assert [row for each in tables for row in each.rows] == [(str(number), f"word{number}") for number in range(1, 1001)]


def test_tables_end_at_empty_rows_and_rows_without_a_header_go_on(tmp_path: Path):
    book = Workbook()
    rows = [("Report",), (), (None, "City", "People"), (None, "Rome", 3), (), (None, "Oslo", 1), (), (None, "Year", "Sum"), (None, 2020, 5)]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "a")
    blocks = read(tmp_path / "a").blocks
    assert blocks[1].text == "Report"
    assert [(each.header, each.rows) for each in blocks[2:]] == [
        (("City", "People"), (("Rome", "3"),)),
        (("City", "People"), (("Oslo", "1"),)),
        (("Year", "Sum"), (("2020", "5"),)),
    ]


def test_merged_cells_stand_in_each_row(tmp_path: Path):
    book = Workbook()
    for row in [("Region", "City", "Sum"), ("North", "Oslo", 1), (None, "Bergen", 2), (None, "Rome", 3)]:
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "a")
    assert read(tmp_path / "a").blocks[1].rows == (("North", "Oslo", "1"), ("North", "Bergen", "2"), ("", "Rome", "3"))


def test_cached_values_and_unknown_results(tmp_path: Path):
    rows = '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>X()</f></c><c r="C1"><f>Y()</f><v></v></c></row>'
    document = read(with_sheet(tmp_path / "a", rows + '<row r="2" hidden="1"><c r="A2"><v>5</v></c></row>'))
    assert [each.text for each in document.blocks] == ["Sheet", "2\n5"]
    assert document.warnings == (
        "the workbook has hidden rows or columns, which were read too",
        "formulas without a stored result were left out; there are 2",
    )


def test_text_boxes_charts_and_threads(tmp_path: Path):
    path = with_sheet(tmp_path / "a", '<row r="1"><c r="A1"><v>1</v></c></row>')
    kinds = {"drawing": "../drawings/d.xml", "threadedComment": "../threaded/t.xml", "comments": "../c.xml"}
    text = "<a:p><a:r><a:t>{}</a:t></a:r></a:p>"
    drawing = f'<d xmlns:a="a"><sp><txBody>{text.format("A box")}</txBody></sp><chart id="r1"/></d>'
    chart = f"<c xmlns:a='a'><title>{text.format('Sales')}</title><ser><tx><v>S</v></tx><val><pt idx='0'><v>9</v></pt></val></ser></c>"
    members = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(kinds),
        "xl/drawings/d.xml": drawing,
        "xl/drawings/_rels/d.xml.rels": relations({"chart": "../charts/c.xml"}),
        "xl/charts/c.xml": chart,
        "xl/threaded/t.xml": '<t><threadedComment ref="A1" personId="p"><text>Why?</text></threadedComment></t>',
        "xl/persons/person.xml": '<l><person id="p" displayName="Ann"/></l>',
        "xl/c.xml": "<c><authors><author>x</author></authors><comment ref='A1' authorId='0'><text><t>[Threaded]</t></text></comment></c>",
    }
    assert [each.text for each in read(rewritten(path, dict(members))).blocks] == [
        "Sheet",
        "1",
        "A box",
        "Sales",
        "|  | S |\n| --- | --- |\n|  | 9 |",
        "Comments",
        "- A1 (Ann): Why?",
    ]


def relations(kinds: dict[str, str]) -> str:
    rows = "".join(f'<Relationship Id="r{n}" Type="http://x/{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(kinds.items(), 1))
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def test_empty_workbook_gives_no_blocks(tmp_path: Path):
    Workbook().save(tmp_path / "a")
    assert read(tmp_path / "a").blocks == ()


def test_cells_at_the_far_end_and_a_declared_size(tmp_path: Path):
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    document = read(with_sheet(tmp_path / "a", rows, before='<dimension ref="A1:XFD1048576"/>'))
    assert [each.text for each in document.blocks] == ["Sheet", "1", "2"]


@pytest.mark.parametrize("row", [10**12, 60_000])
def test_rows_that_cannot_be(tmp_path: Path, row: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(xlsx, "LAST_ROW", 50_000)
    with pytest.raises(BudgetExceeded):
        read(with_sheet(tmp_path / "a", f'<row r="{row}"><c><v>1</v></c></row>'))


def test_millions_of_cells(tmp_path: Path):
    Workbook().save(tmp_path / "a")
    start, end = SHEET.format("", "\0", "").split("\0")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        kept = {each: archive.read(each) for each in archive.namelist() if each != "xl/worksheets/sheet1.xml"}
    with zipfile.ZipFile(tmp_path / "a", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in kept.items():
            archive.writestr(name, data)
        archive.writestr("pad.bin", bytes(range(256)) * 8000, zipfile.ZIP_STORED)
        archive.writestr("xl/worksheets/sheet1.xml", start + ("<row>" + "<c><v>1</v></c>" * 1000 + "</row>") * 5_000 + end)
    with pytest.raises(BudgetExceeded, match="more cells than this server"):
        read(tmp_path / "a")


def test_more_cells_in_a_row_than_columns(tmp_path: Path):
    with pytest.raises(BudgetExceeded, match="columns"):
        read(with_sheet(tmp_path / "a", "<row><c/></row><row>" + "<c><v>1</v></c>" * 120_000 + "</row>"))


def test_cells_far_apart(tmp_path: Path):
    rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 1300))
    with pytest.raises(BudgetExceeded, match="far apart"):
        read(with_sheet(tmp_path / "a", rows))


def test_kinds_of_workbooks_that_cannot_be_read_are_named(tmp_path: Path):
    Workbook().save(tmp_path / "a")
    with pytest.raises(CorruptDocument, match="xlsb"):
        read(rewritten(tmp_path / "a", {"xl/workbook.bin": b"x"}))
    Workbook().save(tmp_path / "a")
    strict = '<workbook xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main"/>'
    with pytest.raises(CorruptDocument, match="strict"):
        read(rewritten(tmp_path / "a", {"xl/workbook.xml": strict}))


def test_damaged_cut_off_empty_and_entities(tmp_path: Path):
    path = with_sheet(tmp_path / "a", '<row r="1"><c r="A1" t="s"><v>99</v></c></row>')
    with pytest.raises(CorruptDocument):
        read(path)
    whole = path.read_bytes()
    for content in (whole[:-200], b"rubbish"):
        path.write_bytes(content)
        with pytest.raises(CorruptDocument):
            read(path)
    path.write_bytes(b"")
    with pytest.raises(EmptyFile):
        read(path)
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    evil = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>' + SHEET.format("", "<row><c t='str'><v>&e;</v></c></row>", "")
    with pytest.raises(CorruptDocument):
        read(rewritten(with_sheet(path, ""), {"xl/worksheets/sheet1.xml": evil}))


def test_password_is_named(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(ole_with_stream("EncryptedPackage"))
    with pytest.raises(EncryptedDocument):
        read(path)
    path.write_bytes(ole_with_stream("Workbook"))
    with pytest.raises(CorruptDocument):
        read(path)


def ole_with_stream(name: str) -> bytes:
    """A small OLE container (MS-CFB) with one empty stream."""
    free, end = 0xFFFFFFFF, 0xFFFFFFFE
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    table = struct.pack("<128I", 0xFFFFFFFD, end, *[free] * 126)
    entries = [("Root Entry", 5, 1), (name, 2, free), ("", 0, free), ("", 0, free)]
    return header + table + b"".join(entry(*each) for each in entries)


def entry(name: str, kind: int, child: int) -> bytes:
    size = 2 * len(name) + 2 if name else 0
    body = name.encode("utf-16-le").ljust(64, b"\0") + struct.pack("<HBB3I", size, kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
    return body.ljust(116, b"\0") + struct.pack("<IQ", 0xFFFFFFFE, 0)
