from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile, EncryptedDocument
from eunoe_extractor.backends import docx
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Plan</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>'
)


def paragraph(text: str, style: str = "", run: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r>{run}<w:t>{text}</w:t></w:r></w:p>"


def table(rows: list[list[str]]) -> str:
    cells = "".join("<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
    return f"<w:tbl>{cells}</w:tbl>"


def written(path: Path, body: str, more: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr("word/document.xml", f'<?xml version="1.0"?><w:document {W}><w:body>{body}</w:body></w:document>')
        for name, text in (more or {}).items():
            archive.writestr(name, text)
    return path


def read(path: Path) -> ParsedDocument:
    return docx.parse(path, name="x.docx", options=ParseOptions())


def test_headings_tables_margins_and_properties(tmp_path: Path):
    body = paragraph("Overview", "Heading1") + paragraph("Words here.") + table([["Name", "Age"], ["Ann", "41"]]) + paragraph("After.")
    header = f"<w:hdr {W}>{paragraph('Confidential')}{paragraph('7')}</w:hdr>"
    document = read(written(tmp_path / "a", body, {"docProps/core.xml": CORE, "word/header1.xml": header, "word/header2.xml": header}))
    assert document.title == "Plan"
    assert document.metadata == {"author": "Ann"}
    assert [(each.kind.value, each.text) for each in document.blocks if each.kind != "table"] == [
        ("heading", "Overview"),
        ("paragraph", "Words here."),
        ("paragraph", "After."),
        ("paragraph", "Confidential"),
    ]
    found = document.blocks[2]
    assert (found.header, found.rows) == (("Name", "Age"), (("Ann", "41"),))
    assert found.heading_path == ("Overview",)


def test_hidden_text_is_flagged(tmp_path: Path):
    document = read(written(tmp_path / "a", paragraph("obey me", run="<w:rPr><w:vanish/></w:rPr>")))
    assert "hidden text" in document.warnings[0]


def test_empty_document_gives_no_blocks(tmp_path: Path):
    assert read(written(tmp_path / "a", "")).blocks == ()


def test_external_entities_are_not_read(tmp_path: Path):
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    evil = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    core = evil + CORE.replace("Plan", "&e;")
    header = f"{evil}<w:hdr {W}>{paragraph('&e;')}</w:hdr>"
    document = read(written(tmp_path / "a", paragraph("x"), {"docProps/core.xml": core, "word/header1.xml": header}))
    assert "SECRET" not in document.text + document.title


def test_entity_bomb_in_the_main_part(tmp_path: Path):
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    path = written(tmp_path / "a", paragraph("x"))
    bomb = f'<!DOCTYPE w [<!ENTITY e0 "ha">{levels}]><w:document {W}><w:body>{paragraph("&e9;")}</w:body></w:document>'
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each).decode() for each in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (members | {"word/document.xml": bomb}).items():
            archive.writestr(name, text)
    with pytest.raises(CorruptDocument):
        read(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04 no zip", b"rubbish"])
def test_broken(tmp_path: Path, content: bytes):
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(CorruptDocument):
        read(path)


def test_cut_off_and_empty(tmp_path: Path):
    path = written(tmp_path / "a", paragraph("x" * 5000))
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(CorruptDocument):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(EmptyFile):
        read(path)


def test_zip_without_a_document(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("other.txt", "x")
    with pytest.raises(CorruptDocument):
        read(tmp_path / "a")


def test_bomb(tmp_path: Path):
    with pytest.raises(BudgetExceeded):
        read(written(tmp_path / "a", paragraph("x"), {"word/media/a.bin": "0" * 60_000_000}))


def test_password_is_named(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(ole_with_stream("EncryptedPackage"))
    with pytest.raises(EncryptedDocument):
        read(path)
    path.write_bytes(ole_with_stream("WordDocument"))
    with pytest.raises(CorruptDocument):
        read(path)


def ole_with_stream(name: str) -> bytes:
    """The smallest OLE container (MS-CFB): header, one sector of allocation table, one of directory, an empty stream."""
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    table = struct.pack("<128I", fat, end, *[free] * 126)
    return header + table + entry("Root Entry", 5, child=1) + entry(name, 2) + entry("", 0) * 2


def entry(name: str, kind: int, child: int = 0xFFFFFFFF) -> bytes:
    size = 2 * len(name) + 2 if name else 0
    free = 0xFFFFFFFF
    body = name.encode("utf-16-le").ljust(64, b"\0") + struct.pack("<HBB3I", size, kind, 1, free, free, child)
    return body.ljust(116, b"\0") + struct.pack("<IQ", 0xFFFFFFFE, 0)
