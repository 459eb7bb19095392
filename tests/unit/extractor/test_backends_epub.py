from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile, EncryptedDocument
from eunoe_extractor.backends import epub
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
META = "<dc:title>The Böök</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator><dc:language>de</dc:language>"
NAV = (
    '<html><body><nav><ol><li><a href="text/one.xhtml#a">Kapitel <b>eins</b></a></li>'
    '<li><a href="text/two%20b.xhtml">Two</a></li></ol></nav></body></html>'
)
NCX = '<ncx><navMap><navPoint><navLabel><text>Eins</text></navLabel><content src="text/one.xhtml"/></navPoint></navMap></ncx>'


def page(body: str, head: str = "<title>The Böök</title>") -> str:
    return f'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head><body>{body}</body></html>'


def written(path: Path, chapters: dict[str, str], more: dict[str, str] | None = None, items: str = "", meta: str = META) -> Path:
    rows = "".join(f'<item id="c{n}" href="{href}" media-type="application/xhtml+xml"/>' for n, href in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    book = f'<package xmlns:dc="d"><metadata>{meta}</metadata><manifest>{rows}{items}</manifest><spine>{spine}</spine></package>'
    members = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/book.opf": book}
    members |= {f"OEBPS/{href.replace('%20', ' ')}": text for href, text in chapters.items() if text}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (members | (more or {})).items():
            archive.writestr(name, text)
    return path


def read(path: Path, **limits: int) -> ParsedDocument:
    return epub.parse(path, name="x.epub", options=ParseOptions(**limits))


def test_chapters_in_reading_order(tmp_path: Path):
    chapters = {
        "text/two%20b.xhtml": page(
            "<h1>Second first</h1><p>Слова</p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
        ),
        "text/one.xhtml": page('<a id="x"/><p>No heading.</p><ul><li>item</li></ul><h2>Part</h2><p>End</p>', "<title/><script src='a'/>"),
    }
    nav = '<item id="n" properties="nav" href="nav.xhtml" media-type="application/xhtml+xml"/>'
    document = read(written(tmp_path / "a", chapters, {"OEBPS/nav.xhtml": NAV}, nav))
    assert document.title == "The Böök"
    assert document.metadata == {"author": "Ann, Bob", "language": "de"}
    assert [(each.kind.value, each.text.strip(), each.heading_path) for each in document.blocks if each.kind != "table"] == [
        ("heading", "Second first", ()),
        ("paragraph", "Слова", ("Second first",)),
        ("heading", "Kapitel eins", ()),
        ("paragraph", "No heading.", ("Kapitel eins",)),
        ("list", "* item", ("Kapitel eins",)),
        ("heading", "Part", ("Kapitel eins",)),
        ("paragraph", "End", ("Kapitel eins", "Part")),
    ]
    assert document.blocks[2].rows == (("1", "2"),)
    assert document.warnings == ()


def test_titles_of_older_books_and_of_pages(tmp_path: Path):
    chapters = {"text/one.xhtml": page("<p>x</p>"), "b.xhtml": page("<p>y</p>", "<title>Own</title>"), "c.xhtml": page("<p>z</p>")}
    ncx = '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    document = read(written(tmp_path / "a", chapters, {"OEBPS/toc.ncx": NCX}, ncx))
    assert [(each.text, each.heading_path) for each in document.blocks if each.kind == "paragraph"] == [
        ("x", ("Eins",)),
        ("y", ("Own",)),
        ("z", ()),
    ]


def test_missing_chapters_and_paths_outside(tmp_path: Path):
    (tmp_path / "secret.xhtml").write_text("SECRET", encoding="utf-8")
    chapters = {"a.xhtml": page("<p>kept</p>"), "gone.xhtml": "", "../../secret.xhtml": "", "file:///secret": "", "http://x.example/b": ""}
    document = read(written(tmp_path / "a", chapters))
    assert document.text == "kept"
    assert "there are 4" in document.warnings[0]
    with pytest.raises(CorruptDocument):
        read(written(tmp_path / "b", {"gone.xhtml": ""}))


@pytest.mark.parametrize(("uri", "fails"), [("OEBPS/a%20b.xhtml", True), ("OEBPS/font.otf", False)])
def test_protected_books(tmp_path: Path, uri: str, fails: bool):
    encryption = f'<encryption><EncryptedData><CipherData><CipherReference URI="{uri}"/></CipherData></EncryptedData></encryption>'
    path = written(tmp_path / "a", {"a%20b.xhtml": page("<p>x</p>")}, {"META-INF/encryption.xml": encryption})
    if not fails:
        assert read(path).text == "x"
        return
    with pytest.raises(EncryptedDocument):
        read(path)


def test_no_text_gives_no_blocks(tmp_path: Path):
    assert read(written(tmp_path / "a", {"a.xhtml": page("<p> </p><img src='x.png'/>")})).blocks == ()
    assert read(written(tmp_path / "b", {})).blocks == ()


def test_damaged_cut_off_and_empty(tmp_path: Path):
    path = written(tmp_path / "a", {"a.xhtml": page("<p>x</p>")})
    whole = path.read_bytes()
    for content in (whole[:-60], b"rubbish"):
        path.write_bytes(content)
        with pytest.raises(CorruptDocument):
            read(path)
    path.write_bytes(b"")
    with pytest.raises(EmptyFile):
        read(path)
    for more in ({"META-INF/container.xml": "<container/>"}, {"META-INF/container.xml": "<cont"}, {"OEBPS/book.opf": "<package>"}):
        with pytest.raises(CorruptDocument):
            read(written(path, {"a.xhtml": page("<p>x</p>")}, more))


def test_entities_bombs_and_budgets(tmp_path: Path):
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    evil = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    chapter = page("<p>a&nbsp;b &e;</p>").replace("<html", evil + "<html")
    document = read(written(tmp_path / "a", {"a.xhtml": chapter}, meta=META.replace("Ann", "Ann &amp; Co")))
    assert "SECRET" not in document.text
    assert "a b" in document.text.replace("\xa0", " ")
    with pytest.raises(BudgetExceeded):
        read(written(tmp_path / "b", {"a.xhtml": page("<p>x</p>")}, {"OEBPS/big": "0" * 60_000_000}))
    with pytest.raises(BudgetExceeded):
        read(written(tmp_path / "c", {"a.xhtml": page("<p>x</p>" * 50)}), max_blocks=10)
    deep = page("<div>" * 5000 + "deep" + "</div>" * 5000)
    assert "deep" in read(written(tmp_path / "d", {"a.xhtml": deep})).text
