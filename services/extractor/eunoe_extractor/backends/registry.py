"""Which module reads which format. Names only: importing this imports no parser library."""

from __future__ import annotations

from collections.abc import Mapping

BACKENDS: Mapping[str, str] = {
    "text": "eunoe_extractor.backends.text",
    "markdown": "eunoe_extractor.backends.markdown",
    "code": "eunoe_extractor.backends.code",
    "html": "eunoe_extractor.backends.html",
    "pdf": "eunoe_extractor.backends.pdf",
    "docx": "eunoe_extractor.backends.docx",
}
PRELOAD = ("eunoe_extractor.job", *BACKENDS.values())
"""What the fork server imports once, so that a new worker is ready in milliseconds."""
LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "html": ("html2text", "lxml"),
    "pdf": ("pypdfium2",),
    "docx": ("mammoth", "lxml", "html2text"),
}
"""What a parser needs beside the standard library, by the names of the modules."""
