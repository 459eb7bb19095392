"""Rules drawn on a PDF page: each straight piece of its paths that runs across or down it, the sides of rectangles among them.

Only geometry counts: colour, width, dashes and clips are not looked at, since tables are drawn in all of these ways.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

Rule = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float]
RIGHT_AND_DOWN: Matrix = (1.0, 0.0, 0.0, -1.0, 0.0, 0.0)
OBJECTS, SEGMENTS, RULES = 30_000, 50_000, 10_000
"""What is looked at on one page; maps and drawings have more."""
FORM_DEPTH = 8
SHORTEST = 1.0
SLANT, SLANT_SHARE = 0.05, 0.005


class TooMuchDrawn(Exception):
    """A page has more objects or lines than are looked at."""


@dataclass(slots=True)
class Rules:
    """`across` has (y, left, right) and `down` has (x, top, bottom), in points to the right of and below the page's origin."""

    across: list[Rule] = field(default_factory=list)
    down: list[Rule] = field(default_factory=list)


def drawn_rules(page: Any) -> Rules:
    """The rules of a loaded page and of the forms on it, in the order in which they are drawn. Raises `TooMuchDrawn`."""
    collector = _Collector()
    collector.take(page, pdfium.FPDFPage_CountObjects(page), pdfium.FPDFPage_GetObject, RIGHT_AND_DOWN, 0)
    return collector.rules


class _Collector:
    def __init__(self) -> None:
        self.rules = Rules()
        self._objects = self._segments = 0
        self._matrix = pdfium.FS_MATRIX()
        self._x, self._y = ctypes.c_float(), ctypes.c_float()

    def take(self, holder: Any, count: int, get: Any, matrix: Matrix, depth: int) -> None:
        """All paths of a page or a form."""
        kind_of = pdfium.FPDFPageObj_GetType
        self._objects += count
        if self._objects > OBJECTS:
            raise TooMuchDrawn
        for index in range(count):
            each = get(holder, index)
            kind = kind_of(each)
            if kind == pdfium.FPDF_PAGEOBJ_PATH:
                self._take_path(each, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < FORM_DEPTH:
                inner = self._placed(each, matrix)
                self.take(each, max(0, pdfium.FPDFFormObj_CountObjects(each)), pdfium.FPDFFormObj_GetObject, inner, depth + 1)

    def _placed(self, each: Any, outer: Matrix) -> Matrix:
        """An object's own matrix, then the one of what it stands in."""
        if not pdfium.FPDFPageObj_GetMatrix(each, self._matrix):
            return outer
        own = self._matrix
        a, b, c, d, e, f = outer
        return (
            own.a * a + own.b * c,
            own.a * b + own.b * d,
            own.c * a + own.d * c,
            own.c * b + own.d * d,
            own.e * a + own.f * c + e,
            own.e * b + own.f * d + f,
        )

    def _take_path(self, path: Any, outer: Matrix) -> None:
        count = pdfium.FPDFPath_CountSegments(path)
        self._segments += max(0, count)
        if self._segments > SEGMENTS:
            raise TooMuchDrawn
        a, b, c, d, e, f = self._placed(path, outer)
        point, x_out, y_out = pdfium.FPDFPathSegment_GetPoint, self._x, self._y
        x = y = start_x = start_y = 0.0
        for index in range(count):
            segment = pdfium.FPDFPath_GetPathSegment(path, index)
            point(segment, x_out, y_out)
            last_x, last_y = x, y
            x, y = x_out.value, y_out.value
            x, y = x * a + y * c + e, x * b + y * d + f
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_LINETO:
                self._line(last_x, last_y, x, y)
            elif kind == pdfium.FPDF_SEGMENT_MOVETO:
                start_x, start_y = x, y
            if pdfium.FPDFPathSegment_GetClose(segment):
                self._line(x, y, start_x, start_y)
                x, y = start_x, start_y
        if len(self.rules.across) + len(self.rules.down) > RULES:
            raise TooMuchDrawn

    def _line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        width, height = abs(x1 - x0), abs(y1 - y0)
        if width >= SHORTEST and height <= SLANT + SLANT_SHARE * width:
            self.rules.across.append(((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif height >= SHORTEST and width <= SLANT + SLANT_SHARE * height:
            self.rules.down.append(((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
