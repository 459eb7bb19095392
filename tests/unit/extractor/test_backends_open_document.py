from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile, EncryptedDocument
from eunoe_extractor.backends import open_document
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument

NAMES = ("office", "text", "table", "style", "presentation", "meta", "manifest")
SPACES = (
    " ".join(f'xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"' for each in NAMES)
    + ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    + ' xmlns:xlink="http://www.w3.org/1999/xlink"'
)
META = f"<x {SPACES}><office:meta><dc:title>Plan</dc:title><dc:creator>Ann</dc:creator></office:meta></x>"


def written(path: Path, kind: str, body: str, styles: str = "", more: dict[str, str] | None = None) -> Path:
    start = f"<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
    content = f"{start}<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in ({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content} | (more or {})).items():
            archive.writestr(name, text)
    return path


def read(path: Path, **limits: int) -> ParsedDocument:
    return open_document.parse(path, name="x", options=ParseOptions(**limits))


def texts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(each.kind.value, each.text) for each in document.blocks]


def row(*cells: str, more: str = "") -> str:
    return (
        f"<table:table-row {more}>"
        + "".join(f"<table:table-cell><text:p>{each}</text:p></table:table-cell>" for each in cells)
        + "</table:table-row>"
    )


TEXT = """<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>
<text:p text:style-name="P9">The title</text:p><text:h text:outline-level="2">Über   uns</text:h>
<text:p>One<text:s text:c="3"/>two<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A footnote.</text:p>
</text:note-body></text:note> three<text:line-break/>four<office:annotation><dc:creator>Bob</dc:creator><dc:date>2024</dc:date>
<text:p>Really?</text:p></office:annotation><draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame>.</text:p>
<text:list text:style-name="L1"><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>内側</text:p>
</text:list-item></text:list>
</text:list-item><text:list-item><text:p>second</text:p></text:list-item></text:list>"""
STYLES = """<style:style style:name="P9" style:parent-style-name="Title"/><text:list-style style:name="L1">
<text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>
<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>"""


def test_text_in_order(tmp_path: Path):
    margins = "<style:header><text:p>Secret paper</text:p></style:header><style:footer><text:p>7</text:p></style:footer>"
    header = f"<x {SPACES}>{margins}</x>"
    document = read(written(tmp_path / "a", "text", TEXT, STYLES, {"meta.xml": META, "styles.xml": header}))
    assert (document.format_id, document.title, document.metadata) == ("odt", "Plan", {"author": "Ann"})
    assert texts(document) == [
        ("heading", "The title"),
        ("heading", "Über uns"),
        ("paragraph", "One   two[1] three\nfour."),
        ("paragraph", "[1] A footnote."),
        ("paragraph", "Comment (Bob): Really?"),
        ("paragraph", "In a box"),
        ("list", "1. first\n  - 内側\n2. second"),
        ("paragraph", "Secret paper"),
    ]
    assert document.blocks[2].heading_path == ("The title", "Über uns")
    assert document.blocks[-1].heading_path == ()
    assert document.warnings == ("the document has hidden text, which was read too",)


def test_tables_of_a_text(tmp_path: Path):
    spanned = '<table:table-cell table:number-rows-spanned="2"><text:p>North</text:p></table:table-cell>'
    table = (
        f"<table:table><table:table-header-rows>{row('Region', 'City')}</table:table-header-rows>"
        f"<table:table-row>{spanned}<table:table-cell><text:p>Oslo</text:p><text:p>old</text:p></table:table-cell></table:table-row>"
        "<table:table-row><table:covered-table-cell/><table:table-cell><text:p>Bergen</text:p></table:table-cell></table:table-row></table:table>"
    )
    found = read(written(tmp_path / "a", "text", table)).blocks[0]
    assert (found.header, found.rows) == (("Region", "City"), (("North", "Oslo old"), ("North", "Bergen")))


def test_embedded_charts(tmp_path: Path):
    chart = f"<office:chart><text:p>Sales</text:p><table:table>{row('', 'Q1')}{row('East', '5')}</table:table></office:chart>"
    inner = f"<x {SPACES}><office:body>{chart}</office:body></x>"
    body = '<text:p><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
    document = read(written(tmp_path / "a", "text", body, more={"Object 1/content.xml": inner}))
    assert document.blocks[0].text == "Sales"
    assert document.blocks[1].rows == (("East", "5"),)
    loop = inner.replace("<text:p>Sales", '<draw:object xlink:href="./Object 1"/><text:p>Sales')
    assert "Sales" in read(written(tmp_path / "b", "text", body, more={"Object 1/content.xml": loop})).text


def test_sheets(tmp_path: Path):
    dated = (
        '<table:table-cell office:value-type="date" office:date-value="2024-02-29T00:00:00"><text:p>29/02/24</text:p></table:table-cell>'
    )
    bare = '<table:table-cell office:value-type="float" office:value="4.5"/>'
    empty = (
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    noted = "<table:table-cell><office:annotation><text:p>Sure?</text:p></office:annotation><text:p>x</text:p></table:table-cell>"
    first = row("Day", "Size", "Same") + f"<table:table-row>{dated}{bare}{noted}</table:table-row>"
    first += row("a", "b", "c", more='table:number-rows-repeated="3"') + empty + row("Total", "9", "")
    body = (
        f'<table:table table:name="Größen">{first}</table:table>'
        f'<table:table table:name="Gone" table:style-name="ta2">{row("hidden words")}</table:table>'
        f'<table:table table:name="None">{empty}</table:table>'
    )
    styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    document = read(written(tmp_path / "a", "spreadsheet", body, styles))
    assert document.format_id == "ods"
    assert [each.text for each in document.blocks if each.kind == "heading"] == ["Größen", "Gone"]
    table = document.blocks[1]
    assert table.header == ("Day", "Size", "Same")
    assert table.rows == (("2024-02-29", "4.5", "x"), *[("a", "b", "c")] * 3)
    assert document.blocks[2].rows == (("Total", "9"),)
    assert "Comment: Sure?" in document.text
    assert document.warnings == ("hidden sheets were read too; there are 1",)


def test_all_rows_of_a_sheet(tmp_path: Path):
    body = row("Id", "Word") + "".join(row(str(number), f"w{number}") for number in range(1000))
    tables = read(written(tmp_path / "a", "spreadsheet", f'<table:table table:name="S">{body}</table:table>')).blocks[1:]
    assert {each.header for each in tables} == {("Id", "Word")}
    assert [line for each in tables for line in each.rows] == [(str(number), f"w{number}") for number in range(1000)]


@pytest.mark.parametrize(("rows", "columns"), [(1_000_000, 16_000), (1, 20_000), (1_000_000, 3)])
def test_repeated_cells_with_text_are_bounded(tmp_path: Path, rows: int, columns: int):
    cell = f'<table:table-cell table:number-columns-repeated="{columns}"><text:p>x</text:p></table:table-cell>'
    body = f'<table:table><table:table-row table:number-rows-repeated="{rows}">{cell}{cell}</table:table-row></table:table>'
    for kind in ("spreadsheet", "text"):
        with pytest.raises(BudgetExceeded):
            read(written(tmp_path / kind, kind, body))


def test_slides(tmp_path: Path):
    box = "<draw:frame {}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    title = box.format('presentation:class="title"', "Начало")
    number = box.format('presentation:class="page-number"', "1")
    notes = f"<presentation:notes>{box.format('', 'Say hello')}{number}</presentation:notes>"
    group = "<draw:g><draw:custom-shape><text:p>In a group</text:p></draw:custom-shape></draw:g>"
    pages = [f"<draw:page>{box.format('', 'Words')}{title}{notes}", f'<draw:page draw:style-name="dp2">{group}', "<draw:page>"]
    body = "".join(f"{each}</draw:page>" for each in pages)
    styles = '<style:style style:name="dp2"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    document = read(written(tmp_path / "a", "presentation", body, styles))
    assert [(each.text, each.page, each.heading_path) for each in document.blocks] == [
        ("Начало", 1, ()),
        ("Words", 1, ("Начало",)),
        ("Notes", 1, ("Начало",)),
        ("Say hello", 1, ("Начало", "Notes")),
        ("Slide 2", 2, ()),
        ("In a group", 2, ("Slide 2",)),
    ]
    assert document.warnings == ("hidden slides were read too: 2",)


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_no_text_gives_no_blocks(tmp_path: Path, kind: str):
    assert read(written(tmp_path / "a", kind, "")).blocks == ()


@pytest.mark.parametrize(("part", "fails"), [("content.xml", True), ("encrypted-package", True), ("Basic/script.xml", False)])
def test_encryption(tmp_path: Path, part: str, fails: bool):
    entry = f'<manifest:file-entry manifest:full-path="{part}"><manifest:encryption-data/></manifest:file-entry>'
    manifest = f"<manifest:manifest {SPACES}>{entry}</manifest:manifest>"
    path = written(tmp_path / "a", "text", "<text:p>x</text:p>", more={"META-INF/manifest.xml": manifest})
    if not fails:
        assert read(path).text == "x"
        return
    with pytest.raises(EncryptedDocument):
        read(path)


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_damaged(tmp_path: Path, kind: str):
    for number, body in enumerate(("<text:p>", "<text:section>" * 2000 + "x" + "</text:section>" * 2000)):
        with pytest.raises(CorruptDocument):
            read(written(tmp_path / f"{kind}{number}", kind, body))


def test_deep_but_allowed_nesting(tmp_path: Path):
    depth = 240
    for number, tag in enumerate(("text:section", "text:span", "table:table-cell")):
        body = f"<text:p><{tag}>" + f"<{tag}>" * depth + "deep" + f"</{tag}>" * depth + f"</{tag}></text:p>"
        assert "deep" in read(written(tmp_path / str(number), "text", body)).text


def test_cut_off_empty_and_other_zips(tmp_path: Path):
    path = written(tmp_path / "a", "text", "<text:p>x</text:p>")
    whole = path.read_bytes()
    for content in (whole[:-60], b"PK\x03\x04 no zip", b"rubbish"):
        path.write_bytes(content)
        with pytest.raises(CorruptDocument):
            read(path)
    path.write_bytes(b"")
    with pytest.raises(EmptyFile):
        read(path)
    for name, text in (("other.txt", "x"), ("content.xml", "<x/>")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, text)
        with pytest.raises(CorruptDocument):
            read(path)


def test_entities_and_bombs(tmp_path: Path):
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    path = written(tmp_path / "a", "text", "<text:p>before &e; after</text:p>")
    with zipfile.ZipFile(path) as archive:
        content = archive.read("content.xml").decode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>' + content)
    assert "SECRET" not in read(path).text
    with pytest.raises(BudgetExceeded):
        read(written(path, "text", "", more={"Pictures/a": "0" * 60_000_000}))


def test_too_many_blocks(tmp_path: Path):
    with pytest.raises(BudgetExceeded):
        read(written(tmp_path / "a", "text", "<text:p>x</text:p>" * 10), max_blocks=5)
