"""The one table of formats. What bytes look like is in `eunoe_safety.sniffer`; it knows containers and markup by itself.

A new format is one row here and one backend file in the extractor.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of content that eunoe reads. `title` names one such file in a message. `textual` formats carry characters, the others bytes
    of their own structure. `parser` is the backend's module in the extractor; `needs` are the libraries that it imports.
    """

    id: str
    title: str
    media_types: tuple[str, ...]
    extensions: tuple[str, ...]
    parser: str
    needs: tuple[str, ...] = ()
    textual: bool = False


CODE_EXTENSIONS = (
    "py", "js", "ts", "tsx", "jsx", "java", "go", "rs", "c", "h", "cpp", "hpp", "cs", "rb", "php", "sh", "swift", "kt",
    "scala", "lua", "sql", "r", "pl",
)  # fmt: skip

FORMATS = (
    Format("text", "a plain text", ("text/plain",), ("txt", "text", "log"), "text", textual=True),
    Format("markdown", "a Markdown text", ("text/markdown", "text/x-markdown"), ("md", "markdown"), "markdown", textual=True),
    Format(
        "code",
        "source code",
        ("text/x-code", "text/x-python", "text/javascript", "application/javascript"),
        CODE_EXTENSIONS,
        "code",
        textual=True,
    ),
    Format(
        "html",
        "a web page (html)",
        ("text/html", "application/xhtml+xml"),
        ("html", "htm", "xhtml"),
        "html",
        ("html2text", "lxml"),
        textual=True,
    ),
    Format("pdf", "a PDF document", ("application/pdf",), ("pdf",), "pdf", ("pypdfium2",)),
    Format(
        "docx",
        "a Word document (docx)",
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
        ("docx",),
        "docx",
        ("mammoth", "lxml", "html2text"),
    ),
    Format("csv", "a table (csv)", ("text/csv", "application/csv"), ("csv",), "delimited", textual=True),
    Format("tsv", "a table (tsv)", ("text/tab-separated-values",), ("tsv", "tab"), "delimited", textual=True),
    Format("json", "JSON data", ("application/json", "text/json"), ("json",), "json_data", textual=True),
    Format(
        "jsonl",
        "JSON data by lines (jsonl)",
        ("application/jsonl", "application/x-ndjson", "application/x-jsonlines"),
        ("jsonl", "ndjson"),
        "json_data",
        textual=True,
    ),
    Format("xml", "XML data", ("application/xml", "text/xml"), ("xml",), "xml_data", ("lxml",), textual=True),
    Format(
        "yaml", "YAML data", ("application/yaml", "application/x-yaml", "text/yaml"), ("yaml", "yml"), "yaml_data", ("yaml",), textual=True
    ),
    Format("vtt", "a transcript (vtt)", ("text/vtt",), ("vtt",), "transcript", textual=True),
    Format("srt", "subtitles (srt)", ("application/x-subrip", "text/srt"), ("srt",), "transcript", textual=True),
    Format("rst", "a reStructuredText (rst)", ("text/x-rst", "text/prs.fallenstein.rst"), ("rst", "rest"), "rst", textual=True),
    Format(
        "pptx",
        "a PowerPoint presentation (pptx)",
        (
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        ),
        ("pptx", "ppsx"),
        "pptx",
        ("pptx", "lxml"),
    ),
    Format(
        "xlsx",
        "an Excel workbook (xlsx)",
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
        ("xlsx",),
        "xlsx",
        ("openpyxl", "lxml"),
    ),
    Format("odt", "an OpenDocument text (odt)", ("application/vnd.oasis.opendocument.text",), ("odt",), "open_document", ("lxml",)),
    Format(
        "ods",
        "an OpenDocument spreadsheet (ods)",
        ("application/vnd.oasis.opendocument.spreadsheet",),
        ("ods",),
        "open_document",
        ("lxml",),
    ),
    Format(
        "odp",
        "an OpenDocument presentation (odp)",
        ("application/vnd.oasis.opendocument.presentation",),
        ("odp",),
        "open_document",
        ("lxml",),
    ),
    Format("rtf", "an RTF document", ("application/rtf", "text/rtf"), ("rtf",), "rtf", ("striprtf",)),
    Format("epub", "an EPUB book", ("application/epub+zip",), ("epub",), "epub", ("lxml", "html2text")),
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
