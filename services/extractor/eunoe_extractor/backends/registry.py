"""Which module reads which format, from the table of formats. Names only: importing this imports no parser library."""

from __future__ import annotations

from collections.abc import Mapping

from eunoe_contracts.formats import FORMATS

BACKENDS: Mapping[str, str] = {each.id: f"eunoe_extractor.backends.{each.parser}" for each in FORMATS}
LIBRARIES: Mapping[str, tuple[str, ...]] = {each.id: each.needs for each in FORMATS if each.needs}
"""What a parser needs beside the standard library, by the names of the modules."""
COMMON = ("text", "markdown", "code", "html", "pdf", "docx")
PRELOAD = ("eunoe_extractor.job", *(BACKENDS[each] for each in COMMON))
"""What the fork server imports once, so that a new worker is ready in milliseconds. A worker imports the others when it meets them."""
