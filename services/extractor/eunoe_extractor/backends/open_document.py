"""OpenDocument (odt, ods, odp): content, properties, headers and footers straight from the XML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eunoe_contracts.errors import CorruptDocument, EncryptedDocument

from eunoe_extractor.backends.markdown import first_heading
from eunoe_extractor.backends.open_names import DUBLIN, MANIFEST, META, OFFICE, STYLE, TEXT
from eunoe_extractor.backends.open_sheets import OpenSheets
from eunoe_extractor.backends.open_slides import add_slides
from eunoe_extractor.backends.open_text import OpenText
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.package import Package, texts_of
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.parsed import BlockKind, ParsedDocument

FORMATS = ("odt", "ods", "odp")
CONTENT, STYLES, TYPE = "content.xml", "styles.xml", "mimetype"
KINDS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
MARGINS = tuple(f"{STYLE}{each}" for each in ("header", "header-left", "header-first", "footer", "footer-left", "footer-first"))
PROPERTIES = {
    "title": f"{DUBLIN}title",
    "author": f"{DUBLIN}creator",
    "created": f"{META}creation-date",
    "modified": f"{DUBLIN}date",
    "language": f"{DUBLIN}language",
}


def parse(path: Path, *, name: str, options: ParseOptions) -> ParsedDocument:
    """Read a text, a workbook or a presentation; which of them it is, the file says. Notes and comments follow the paragraph, table or
    list they belong to; headers and footers of texts stand at the end, each once; deleted text of tracked changes is left out.

    Raises `EmptyFile`, `EncryptedDocument`, `CorruptDocument`, `BudgetExceeded`.
    """
    del name
    with Package(path) as package:
        _check_encryption(package)
        kind = _kind(package)
        blocks = PartBlocks(options.max_blocks)
        text = OpenText(blocks, package)
        try:
            warnings = _sheets(blocks, text, package) if kind == "ods" else _pages(blocks, text, package, kind)
        except RecursionError as error:
            raise CorruptDocument("the document is nested too deep") from error
        meta = package.optional("meta.xml")
    properties = {} if meta is None else texts_of(meta, PROPERTIES)
    title = properties.pop("title", "") or ("" if kind == "ods" else first_heading(blocks))
    return ParsedDocument(kind, title, tuple(blocks.blocks), tuple(warnings), properties)


def _check_encryption(package: Package) -> None:
    """Macros may be encrypted alone; the text is when its part is, or when the whole is one encrypted part."""
    manifest = package.optional("META-INF/manifest.xml")
    entries = [] if manifest is None else manifest.iter(f"{MANIFEST}file-entry")
    for each in entries:
        is_text = each.get(f"{MANIFEST}full-path") in {CONTENT, "encrypted-package"}
        if is_text and each.find(f"{MANIFEST}encryption-data") is not None:
            raise EncryptedDocument
    if CONTENT not in package.names:
        raise CorruptDocument("the file is no OpenDocument: its main part is missing")


def _kind(package: Package) -> str:
    declared = package.read(TYPE)[:100].decode("ascii", "replace") if TYPE in package.names else ""
    found = next((kind for name, kind in KINDS.items() if f"opendocument.{name}" in declared), "")
    if not found:
        raise CorruptDocument("the file does not say that it is a text, a workbook or a presentation")
    return found


def _sheets(blocks: PartBlocks, text: OpenText, package: Package) -> list[str]:
    sheets = OpenSheets(blocks, text)
    sheets.read(package)
    return [f"hidden sheets were read too; there are {sheets.hidden}"] if sheets.hidden else []


def _pages(blocks: PartBlocks, text: OpenText, package: Package, kind: str) -> list[str]:
    """A text or a presentation; returns the warnings."""
    tree = package.tree(CONTENT)
    styles = package.optional(STYLES)
    body = next(iter(tree.iterfind(f"{OFFICE}body/*")), None)
    if body is None:
        raise CorruptDocument("the document has no body")
    for each in filter(lambda found: found is not None, (styles, tree)):
        text.learn(each)
    warnings = []
    if kind == "odp":
        hidden = add_slides(blocks, text, tree, body)
        warnings += [f"hidden slides were read too: {', '.join(map(str, hidden))}"] if hidden else []
    else:
        text.body(body)
        _margins(blocks, text, styles)
    if any(each.get(f"{TEXT}display") == "none" for each in tree.iter(f"{STYLE}text-properties")):
        warnings.append("the document has hidden text, which was read too")
    return warnings


def _margins(blocks: PartBlocks, text: OpenText, styles: Any) -> None:
    blocks.close(1)
    margins = [] if styles is None else [text.box(each) for each in styles.iter(*MARGINS)]
    for each in dict.fromkeys(margins):
        if each and not each.isdecimal():
            blocks.add(BlockKind.PARAGRAPH, each)
    text.flush()
