from __future__ import annotations

import time
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile, EncryptedDocument
from eunoe_extractor.backends import pdf
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.pdf_lines import join_paragraphs, numbered_level, page_lines
from eunoe_extractor.parsed import BlockKind, ParsedDocument
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

OPTIONS = ParseOptions()
CELLS = [["Product", "Units", "Price"], ["Bolt", "120", "0.10"], ["Nut", "80", "0.05"]]


def written(path: Path, pages: list[list[str]], **options: object) -> Path:
    canvas = Canvas(str(path), pagesize=A4, **options)
    canvas.setTitle("Quarterly report")
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(72, 760 - 16 * number, line)
        canvas.showPage()
    canvas.save()
    return path


def with_table(path: Path) -> Path:
    template = SimpleDocTemplate(str(path), pagesize=A4)
    grid = Table(CELLS, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)], colWidths=120)
    normal = getSampleStyleSheet()["Normal"]
    before, after = Paragraph("Words before the table.", normal), Paragraph("Words after it.", normal)
    template.build([before, grid, after])
    return path


def read(path: Path, options: ParseOptions = OPTIONS) -> ParsedDocument:
    return pdf.parse(path, name="x.pdf", options=options)


def test_text_with_pages_and_title(tmp_path: Path):
    document = read(written(tmp_path / "a", [["Hello first page."], ["Hello second page."]]))
    assert document.title == "Quarterly report"
    assert [(each.page, each.text) for each in document.blocks] == [(1, "Hello first page."), (2, "Hello second page.")]
    assert document.metadata["pages"] == "2"
    assert document.warnings == ()


def test_ruled_table_has_its_place_and_cells(tmp_path: Path):
    document = read(with_table(tmp_path / "a"))
    assert [each.kind for each in document.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    before, table, after = document.blocks
    assert (before.text, after.text) == ("Words before the table.", "Words after it.")
    assert table.header == ("Product", "Units", "Price")
    assert table.rows == (("Bolt", "120", "0.10"), ("Nut", "80", "0.05"))
    assert table.page == 1


def test_table_time_is_bounded_and_text_kept(tmp_path: Path):
    document = read(with_table(tmp_path / "a"), ParseOptions(table_s=-1))
    assert "Bolt" in document.text
    assert all(each.kind is BlockKind.PARAGRAPH for each in document.blocks)


def test_bookmarks_become_headings(tmp_path: Path):
    canvas = Canvas(str(tmp_path / "a"))
    canvas.bookmarkPage("one")
    canvas.addOutlineEntry("Method", "one", level=0)
    for number, line in enumerate(["Before it.", "METHOD", "Then the words."]):
        canvas.drawString(72, 700 - 20 * number, line)
    canvas.save()
    document = read(tmp_path / "a")
    assert [(each.kind.value, each.text) for each in document.blocks] == [
        ("paragraph", "Before it."),
        ("heading", "METHOD"),
        ("paragraph", "Then the words."),
    ]
    assert document.blocks[2].heading_path == ("METHOD",)


def test_page_without_text_is_named(tmp_path: Path):
    document = read(written(tmp_path / "a", [["words"], [], [], ["words"], []]))
    assert document.warnings == ("pages 2-3, 5 without text; scans are not read yet",)


def test_no_text_at_all_gives_no_blocks(tmp_path: Path):
    document = read(written(tmp_path / "a", [[]]))
    assert document.blocks == ()
    assert document.warnings


def test_long_document_is_reopened_and_fast(tmp_path: Path):
    path = written(tmp_path / "a", [[f"Line {line} of page {page} with some more words." for line in range(40)] for page in range(120)])
    started = time.process_time()
    document = read(path)
    assert time.process_time() - started < 1.0, "the promise is 120 pages a second"
    assert [document.blocks[at].page for at in (0, -1)] == [1, 120]
    assert "page 119" in document.text


def test_password(tmp_path: Path):
    locked = written(tmp_path / "a", [["secret"]], encrypt=StandardEncryption("user", "owner"))
    with pytest.raises(EncryptedDocument):
        read(locked)
    owner_only = written(tmp_path / "b", [["open words"]], encrypt=StandardEncryption("", "owner"))
    assert "open words" in read(owner_only).text


def test_no_bytes(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"")
    with pytest.raises(EmptyFile):
        read(path)


@pytest.mark.parametrize("content", [b"%PDF-1.7\n", b"%PDF-1.7\nrubbish", b"no pdf"])
def test_broken(tmp_path: Path, content: bytes):
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(CorruptDocument):
        read(path)


def test_cut_off(tmp_path: Path):
    path = written(tmp_path / "a", [["words"] * 30] * 3)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(CorruptDocument):
        read(path)


def test_too_many_pages(tmp_path: Path):
    with pytest.raises(BudgetExceeded):
        read(written(tmp_path / "a", [["x"]] * 3), ParseOptions(max_pages=2))


def test_hyphens_at_line_ends_are_joined():
    assert page_lines("exam\ufffe\r\nple here\r\nnext") == ["example here", "next"]


def test_lines_become_paragraphs():
    lines = ["A long line of a paragraph that goes on", "and ends here.", "• a point", "• another point", "", "最初の行", "次の行"]
    assert join_paragraphs(lines) == [
        "A long line of a paragraph that goes on and ends here.",
        "• a point",
        "• another point",
        "最初の行次の行",
    ]


@pytest.mark.parametrize(
    ("line", "level"),
    [("5.1 Results of it", 2), ("1.2.3 More", 3), ("5 Things", None), ("2.5 Million were spent.", None), ("3.14 2.71", None)],
)
def test_numbered_headings(line: str, level: int | None):
    assert numbered_level(line) == level
