"""Names of OpenDocument that several modules need."""

from __future__ import annotations

_ROOT = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_ROOT}office:1.0}}"
TEXT = f"{{{_ROOT}text:1.0}}"
TABLE = f"{{{_ROOT}table:1.0}}"
DRAW = f"{{{_ROOT}drawing:1.0}}"
STYLE = f"{{{_ROOT}style:1.0}}"
PRESENTATION = f"{{{_ROOT}presentation:1.0}}"
MANIFEST = f"{{{_ROOT}manifest:1.0}}"
META = f"{{{_ROOT}meta:1.0}}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"
LINK = "{http://www.w3.org/1999/xlink}href"


def count(value: str | None, most: int) -> int:
    """A number of repetitions as an attribute gives it: at least 1, at most `most`."""
    if value is None or not value.isascii() or not value.isdecimal():
        return 1
    return max(1, min(most, int(value[:10])))
