"""Tables of PDFs by what stands in them: merged cells, cells of several lines, tables that the end of a page cuts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from eunoe_extractor.backends import pdf
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import BlockKind
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

GRID = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
LONG = [["Town", "People"], *([f"Town {number}", f"{number}00"] for number in range(1, 61))]


def written(path: Path, cells: Sequence[Sequence[Any]], *, style: Sequence[Any] = (), **options: Any) -> Path:
    normal = getSampleStyleSheet()["Normal"]
    table = Table(cells, style=[GRID, *style], colWidths=110, **options)
    SimpleDocTemplate(str(path), pagesize=A4).build([Paragraph("Words before it.", normal), table, Paragraph("Words after it.", normal)])
    return path


def tables(path: Path) -> list[list[tuple[str, ...]]]:
    blocks = pdf.parse(path, name="x.pdf", options=ParseOptions()).blocks
    return [[each.header, *each.rows] for each in blocks if each.kind is BlockKind.TABLE]


@pytest.mark.parametrize(
    ("span", "cells", "expected"),
    [
        (
            ((1, 0), (2, 0)),
            [["Town", "People", ""], ["", "2020", "2021"], ["Vardal", "4,100", "4,180"]],
            [("Town", "People", ""), ("", "2020", "2021"), ("Vardal", "4,100", "4,180")],
        ),
        (
            ((0, 1), (0, 2)),
            [["Coast", "Town", "People"], ["North", "Vardal", "4,100"], ["", "Skerry", "900"]],
            [("Coast", "Town", "People"), ("North", "Vardal", "4,100"), ("", "Skerry", "900")],
        ),
        (
            ((0, 1), (1, 2)),
            [["Coast", "Town", "People"], ["None counted", "", "0"], ["", "", "1"]],
            [("Coast", "Town", "People"), ("None counted", "", "0"), ("", "", "1")],
        ),
    ],
    ids=["across", "down", "both"],
)
def test_merged_cells(tmp_path: Path, span: tuple[object, object], cells: list[list[str]], expected: list[tuple[str, ...]]):
    assert tables(written(tmp_path / "a", cells, style=[("SPAN", *span), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")])) == [
        [row for row in expected if any(row)]
    ]


def test_a_column_without_text_is_left_out(tmp_path: Path):
    cells = [["Part", "", "Interval"], ["Lens", "", "90 days"]]
    assert tables(written(tmp_path / "a", cells)) == [[("Part", "Interval"), ("Lens", "90 days")]]


def test_cells_of_several_lines(tmp_path: Path):
    note = "Change both bulbs together, never one alone, and write the date into the red book beside the door."
    cells = [["Part", "Note"], ["Main lamp", Paragraph(note, getSampleStyleSheet()["Normal"])], ["Fog horn", "Test at\nnoon only"]]
    assert tables(written(tmp_path / "a", cells)) == [[("Part", "Note"), ("Main lamp", note), ("Fog horn", "Test at noon only")]]


def test_a_table_that_goes_on_has_the_header_of_the_page_before(tmp_path: Path):
    found = tables(written(tmp_path / "a", LONG))
    assert [each[0] for each in found] == [("Town", "People")] * 2
    assert [row for each in found for row in each[1:]] == [tuple(row) for row in LONG[1:]]


def test_a_header_that_is_drawn_again_stands_once(tmp_path: Path):
    found = tables(written(tmp_path / "a", LONG, repeatRows=1))
    assert [each[0] for each in found] == [("Town", "People")] * 2
    assert [row for each in found for row in each[1:]] == [tuple(row) for row in LONG[1:]]


FIRST, NEXT = [["Town", "People"], ["Vardal", "4,100"]], [["Skerry", "900"], ["Bergen", "300"]]
OWN = [["Part", "Days"], ["Lamp", "90"]]


@pytest.mark.parametrize(
    ("first", "second", "above", "below", "expected"),
    [
        (FIRST, NEXT, ("Yearbook, page 1", "Yearbook, page 2"), "7", [FIRST, [FIRST[0], *NEXT]]),
        (FIRST, NEXT, ("Yearbook", "Ships of the coast"), "", [FIRST, NEXT]),
        (FIRST, OWN, ("", ""), "", [FIRST, OWN]),
        (FIRST[1:] * 2, NEXT, ("", ""), "", [FIRST[1:] * 2, [FIRST[1], *NEXT]]),
        ([["1,200", "4,100"]] * 2, NEXT, ("", ""), "", [[["1,200", "4,100"]] * 2, NEXT]),
    ],
    ids=["running title", "new title", "own header", "half words", "no header"],
)
def test_what_goes_on_over_a_page(
    tmp_path: Path,
    first: list[list[str]],
    second: list[list[str]],
    above: tuple[str, str],
    below: str,
    expected: list[list[list[str]]],
):
    canvas = Canvas(str(tmp_path / "a"), pagesize=A4)
    for cells, title in zip((first, second), above, strict=True):
        canvas.drawString(72, 780, title)
        table = Table(cells, style=[GRID], colWidths=110)
        table.wrapOn(canvas, 400, 400)
        table.drawOn(canvas, 72, 600)
        canvas.drawString(72, 40, below)
        canvas.showPage()
    canvas.save()
    assert tables(tmp_path / "a") == [[tuple(row) for row in each] for each in expected]
