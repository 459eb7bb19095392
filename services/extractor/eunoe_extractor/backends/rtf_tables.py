"""Control words of RTF and what they mean to the reader."""

from __future__ import annotations

import codecs
import re

from striprtf.striprtf import charset_map, destinations, specialchars

TOKEN = re.compile(r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)|\\$", re.DOTALL)
FLOWS = {
    **dict.fromkeys(("footnote", "annotation", "shptxt", "dptxbxtext"), "note"),
    **dict.fromkeys(("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"), "margin"),
    **dict.fromkeys(("listtext", "pntext"), "mark"),
    **dict.fromkeys(("title", "author", "atnauthor"), "value"),
    "stylesheet": "styles",
    "fonttbl": "fonts",
}
"""Groups whose text goes elsewhere, and where."""
SHOWN_AGAIN = frozenset({"shptxt", "dptxbxtext", "ud"})
"""Groups that are shown although they stand in one that is skipped."""
DEAD = frozenset({"shprslt", "nonesttables"})
"""Groups that only repeat what stands elsewhere, for older programs."""
SKIPPED = destinations - FLOWS.keys() - SHOWN_AGAIN - {"object", "result", "shp", "info"}
ENDS = frozenset({"par", "sect", "page", "column"})
CELLS = frozenset({"cell", "row", "nestcell", "nestrow"})
FONT_WORDS = frozenset({"f", "deff", "plain", "fcharset", "cpg", "ansicpg", "mac", "pc", "pca"})
PARAGRAPH_WORDS = frozenset({"pard", "intbl", "s", "ilvl", "outlinelevel"})
TOGGLES = {"v": "hidden", "deleted": "deleted"}
CHARACTERS = {word: text for word, text in specialchars.items() if word not in {*ENDS, "row", "cell", "nestcell", "-"}} | {
    "\n": "",
    "\r": "",
}
CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
DEFAULT_CODEC = "cp1252"


def codec_of(charset: int) -> str:
    """The codec of a character set of a font; "" when it says nothing or Python knows none."""
    return known(str(charset_map.get(charset, "")))


def known(codec: str) -> str:
    """The codec when Python has it, else ""."""
    try:
        return codecs.lookup(codec).name if codec else ""
    except LookupError:
        return ""
