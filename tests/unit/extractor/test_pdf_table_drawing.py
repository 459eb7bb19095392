"""Tables of PDFs by how they are drawn and turned; and what looks like one and is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pypdfium2
import pytest
from eunoe_extractor.backends import pdf
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

CELLS = [["Product", "Units", "Price"], ["Bolt", "120", "0.10"], ["Nut", "80", "0.05"]]
ROWS = [tuple(row) for row in CELLS]
LEFT, TOP, WIDTH, HEIGHT = 72.0, 700.0, 100.0, 24.0


def read(path: Path) -> ParsedDocument:
    return pdf.parse(path, name="x.pdf", options=ParseOptions())


def rows(block: Block) -> list[tuple[str, ...]]:
    return [block.header, *block.rows]


def tables(path: Path) -> list[list[tuple[str, ...]]]:
    return [rows(each) for each in read(path).blocks if each.kind is BlockKind.TABLE]


def by_hand(path: Path, draw: Callable[[Canvas], None]) -> Path:
    canvas = Canvas(str(path), pagesize=A4)
    draw(canvas)
    canvas.showPage()
    canvas.save()
    return path


def texts(canvas: Canvas, cells: Sequence[Sequence[str]] = CELLS, *, top: float = TOP) -> None:
    for row, line in enumerate(cells):
        for column, text in enumerate(line):
            canvas.drawString(LEFT + column * WIDTH + 4, top - (row + 1) * HEIGHT + 8, text)


def edges(cells: Sequence[Sequence[str]] = CELLS, *, top: float = TOP) -> tuple[list[float], list[float]]:
    return [LEFT + at * WIDTH for at in range(len(cells[0]) + 1)], [top - at * HEIGHT for at in range(len(cells) + 1)]


def lines(canvas: Canvas, cells: Sequence[Sequence[str]] = CELLS, *, top: float = TOP) -> None:
    xs, ys = edges(cells, top=top)
    for x in xs:
        canvas.line(x, ys[0], x, ys[-1])
    for y in ys:
        canvas.line(xs[0], y, xs[-1], y)


def one_path(canvas: Canvas) -> None:
    xs, ys = edges()
    path = canvas.beginPath()
    for x in xs:
        path.moveTo(x, ys[0])
        path.lineTo(x, ys[-1])
    for y in ys:
        path.moveTo(xs[0], y)
        path.lineTo(xs[-1], y)
    canvas.drawPath(path)


def thin_rectangles(canvas: Canvas) -> None:
    xs, ys = edges()
    for x in xs:
        for y in ys[1:]:
            canvas.rect(x, y, 0.5, HEIGHT, stroke=0, fill=1)
    for y in ys:
        for x in xs[:-1]:
            canvas.rect(x, y, WIDTH, 0.5, stroke=0, fill=1)


def shaded_cells(canvas: Canvas) -> None:
    canvas.setFillGray(0.9)
    xs, ys = edges()
    for x in xs[:-1]:
        for y in ys[1:]:
            canvas.rect(x, y, WIDTH, HEIGHT, stroke=0, fill=1)
    canvas.setFillGray(0)


def boxes(canvas: Canvas) -> None:
    xs, ys = edges()
    for x in xs[:-1]:
        for y in ys[1:]:
            canvas.rect(x, y, WIDTH, HEIGHT)


def in_a_form(canvas: Canvas) -> None:
    canvas.beginForm("inner")
    xs, ys = edges()
    for x in xs:
        canvas.line(2 * x, 2 * ys[0], 2 * x, 2 * ys[-1])
    for y in ys:
        canvas.line(2 * xs[0], 2 * y, 2 * xs[-1], 2 * y)
    canvas.endForm()
    canvas.beginForm("outer")
    canvas.translate(-30, 10)
    canvas.scale(0.5, 0.5)
    canvas.doForm("inner")
    canvas.endForm()
    canvas.saveState()
    canvas.translate(30, -10)
    canvas.doForm("outer")
    canvas.restoreState()


def turned(canvas: Canvas, degrees: int) -> None:
    width, height = A4
    canvas.translate(*{0: (0, 0), 90: (width, 0), 180: (width, height), 270: (0, height)}[degrees])
    canvas.rotate(degrees)


@pytest.mark.parametrize("rules", [lines, one_path, thin_rectangles, shaded_cells, boxes, in_a_form])
def test_every_way_to_draw_rules(tmp_path: Path, rules: Callable[[Canvas], None]):
    def page(canvas: Canvas) -> None:
        rules(canvas)
        texts(canvas)

    assert tables(by_hand(tmp_path / "a", page)) == [ROWS]


def test_text_keeps_its_place_beside_two_tables(tmp_path: Path):
    def page(canvas: Canvas) -> None:
        canvas.drawString(72, 760, "Before.")
        lines(canvas)
        texts(canvas)
        canvas.drawString(72, 580, "Between.")
        lines(canvas, top=540)
        texts(canvas, top=540)
        canvas.drawString(72, 400, "After.")

    document = read(by_hand(tmp_path / "a", page))
    assert [rows(each) if each.header else each.text for each in document.blocks] == ["Before.", ROWS, "Between.", ROWS, "After."]


@pytest.mark.parametrize("shown", [0, 90, 180, 270])
@pytest.mark.parametrize("content", [0, 90, 180, 270])
def test_tables_read_as_their_characters_run(tmp_path: Path, shown: int, content: int):
    def page(canvas: Canvas) -> None:
        canvas.setPageRotation(shown)
        turned(canvas, content)
        lines(canvas, top=500)
        texts(canvas, top=500)

    path = by_hand(tmp_path / "a", page)
    with pypdfium2.PdfDocument(path) as document:
        assert document[0].get_rotation() == shown
    assert tables(path) == [ROWS]


def test_sideways_headings_do_not_turn_a_table(tmp_path: Path):
    def page(canvas: Canvas) -> None:
        body = [["", "", ""], *CELLS[1:]]
        lines(canvas, body)
        texts(canvas, body)
        for column, heading in enumerate(("one", "two", "six")):
            canvas.saveState()
            canvas.translate(LEFT + column * WIDTH + 40, TOP - HEIGHT + 2)
            canvas.rotate(90)
            canvas.drawString(0, 0, heading)
            canvas.restoreState()

    assert tables(by_hand(tmp_path / "a", page)) == [[("one", "two", "six"), *ROWS[1:]]]


def test_origin_of_the_page_does_not_matter(tmp_path: Path):
    with pypdfium2.PdfDocument(by_hand(tmp_path / "a", lambda canvas: (lines(canvas), texts(canvas)))) as document:
        document[0].set_mediabox(-60, 40, 560, 900)
        document.save(tmp_path / "b")
    assert tables(tmp_path / "b") == [ROWS]


def test_a_frame_around_text_is_no_table(tmp_path: Path):
    def page(canvas: Canvas) -> None:
        canvas.rect(50, 50, 490, 740)
        canvas.line(50, 760, 540, 760)
        canvas.line(300, 760, 300, 790)
        canvas.drawString(72, 700, "2.1 Method of it")
        canvas.drawString(72, 680, "Words in a frame.")

    document = read(by_hand(tmp_path / "a", page))
    assert [(each.kind, each.text) for each in document.blocks] == [
        (BlockKind.HEADING, "2.1 Method of it"),
        (BlockKind.PARAGRAPH, "Words in a frame."),
    ]


@pytest.mark.parametrize("steps", [0, 30], ids=["stack", "steps"])
def test_boxes_one_above_the_other_are_no_table(tmp_path: Path, steps: int):
    def page(canvas: Canvas) -> None:
        for number in range(5):
            canvas.rect(72 + steps * number, 600 - 20 * number, 30 if steps else 200, 20)
            canvas.drawString(74 + steps * number, 606 - 20 * number, f"B{number}")

    assert tables(by_hand(tmp_path / "a", page)) == []


def test_slanting_lines_are_no_rules(tmp_path: Path):
    def page(canvas: Canvas) -> None:
        texts(canvas)
        for number in range(6):
            canvas.line(72, 700 - 20 * number, 400, 680 - 20 * number)
            canvas.line(72 + 60 * number, 700, 92 + 60 * number, 600)

    assert tables(by_hand(tmp_path / "a", page)) == []


def test_a_page_with_too_many_lines_is_read_as_text(tmp_path: Path):
    def page(canvas: Canvas) -> None:
        lines(canvas)
        texts(canvas)
        canvas.lines([(100, at / 20, 200, at / 20) for at in range(11_000)])

    document = read(by_hand(tmp_path / "a", page))
    assert "Bolt" in document.text
    assert all(each.kind is BlockKind.PARAGRAPH for each in document.blocks)
    assert document.warnings == ("page 1 with too many lines to look for tables, which were read as plain text",)


def with_codes(path: Path, content: bytes, codes: dict[str, str]) -> Path:
    """A page with two by two boxes whose font says that letters stand for other characters."""
    mapped = b" ".join(b"<%02X> <%s>" % (ord(each), code.encode("utf-16-be").hex().encode()) for each, code in codes.items())
    unicode_map = b"""/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange
%d beginbfchar %s endbfchar endcmap end""" % (len(codes), mapped)
    boxes = b" 70 660 100 30 re 170 660 100 30 re 70 690 100 30 re 170 690 100 30 re S"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R/Resources<</Font<</F 4 0 R>>>>>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        *(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream) for stream in (content + boxes, unicode_map)),
    ]
    written = b"".join(b"%d 0 obj%s endobj\n" % (number, each) for number, each in enumerate(objects, 1))
    path.write_bytes(b"%PDF-1.7\n" + written + b"trailer<</Root 1 0 R>>")
    return path


def test_characters_beyond_the_basic_plane_stay_in_their_cells(tmp_path: Path):
    content = b"BT /F 12 Tf 80 705 Td (A) Tj 100 0 Td (B) Tj -100 -30 Td (BA) Tj 100 0 Td (AB) Tj ET"
    path = with_codes(tmp_path / "a", content, {"A": "\U0002000b", "B": "B"})
    assert tables(path) == [[("\U0002000b", "B"), ("B\U0002000b", "\U0002000bB")]]


@pytest.mark.parametrize("number", ["0", "7"])
def test_a_page_cannot_mark_a_table_itself(tmp_path: Path, number: str):
    content = b"BT /F 12 Tf 80 735 Td (A%bB) Tj 0 -30 Td (C) Tj 100 -30 Td (C) Tj ET" % number.encode()
    path = with_codes(tmp_path / "a", content, {"A": "\ue001", "B": "\ue002", "C": "C", number: number})
    assert tables(path) == [[("C", ""), ("", "C")]]
    assert number in read(path).text
