"""The one table of formats: id, media types, file name extensions. Sniffing (magic numbers) is in `eunoe_safety.sniffer`.

A new format is one row here, one rule in the sniffer and one backend file in the extractor.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of content that eunoe can name. `textual` formats carry characters, the others bytes of their own structure."""

    id: str
    media_types: tuple[str, ...]
    extensions: tuple[str, ...]
    textual: bool = False


CODE_EXTENSIONS = (
    "py", "js", "ts", "tsx", "jsx", "java", "go", "rs", "c", "h", "cpp", "hpp", "cs", "rb", "php", "sh", "swift", "kt",
    "scala", "lua", "sql", "r", "pl",
)  # fmt: skip

FORMATS = (
    Format("text", ("text/plain",), ("txt", "text", "log"), textual=True),
    Format("markdown", ("text/markdown", "text/x-markdown"), ("md", "markdown"), textual=True),
    Format("code", ("text/x-code", "text/x-python", "text/javascript", "application/javascript"), CODE_EXTENSIONS, textual=True),
    Format("html", ("text/html", "application/xhtml+xml"), ("html", "htm", "xhtml"), textual=True),
    Format("pdf", ("application/pdf",), ("pdf",)),
    Format("docx", ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",), ("docx",)),
)

BY_ID = {each.id: each for each in FORMATS}


def by_media_type(media_type: str) -> Format | None:
    """The format of a media type; parameters such as charset are ignored."""
    wanted = media_type.partition(";")[0].strip().lower()
    return next((each for each in FORMATS if wanted in each.media_types), None)


def by_name(name: str) -> Format | None:
    """The format that a file name suggests."""
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return next((each for each in FORMATS if extension in each.extensions), None)
