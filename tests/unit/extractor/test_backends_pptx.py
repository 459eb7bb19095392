from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile
from eunoe_extractor.backends import pptx
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

BOX = (Inches(1), Inches(1), Inches(3), Inches(1))


def read(path: Path, **limits: int) -> ParsedDocument:
    return pptx.parse(path, name="x.pptx", options=ParseOptions(**limits))


def rewritten(path: Path, change: Callable[[str, bytes], bytes], more: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {each: change(each, archive.read(each)) for each in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (members | {key: value.encode() for key, value in (more or {}).items()}).items():
            archive.writestr(name, data)
    return path


def deck(path: Path) -> Path:
    made = Presentation()
    made.core_properties.title, made.core_properties.author = "The deck", "Ann"
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Goals für 2025"
    frame = first.placeholders[1].text_frame
    frame.text = "Первое"
    for text, level in (("inner", 1), ("last", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    first.notes_slide.notes_text_frame.text = "Say hello"
    second = made.slides.add_slide(made.slide_layouts[6])
    table = second.shapes.add_table(3, 2, *BOX).table
    for row, texts in enumerate([("Name", "Age"), ("Ann", "41"), ("", "42")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "in a group"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Q1", (1.5, 2))
    data.add_series("Q2", (3, 4))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data)
    made.slides.add_slide(made.slide_layouts[6])
    second.element.set("show", "0")
    made.save(str(path))
    return path


def test_slides_lists_notes_tables_groups_charts(tmp_path: Path):
    document = read(deck(tmp_path / "a"))
    assert document.title == "The deck"
    assert document.metadata["author"] == "Ann"
    assert [(each.kind.value, each.text, each.page) for each in document.blocks if each.kind != "table"] == [
        ("heading", "Goals für 2025", 1),
        ("list", "- Первое\n  - inner\n- last", 1),
        ("heading", "Notes", 1),
        ("paragraph", "Say hello", 1),
        ("heading", "Slide 2", 2),
        ("paragraph", "in a group", 2),
    ]
    table, chart = [each for each in document.blocks if each.kind == "table"]
    assert (table.header, table.rows) == (("Name", "Age"), (("Ann", "41"), ("Ann", "42")))
    assert (chart.header, chart.rows) == (("", "Q1", "Q2"), (("East", "1.5", "3"), ("West", "2", "4")))
    assert chart.heading_path == ("Slide 2",)
    assert document.warnings == ("hidden slides were read too: 2",)
    assert document.blocks[3].heading_path == ("Goals für 2025", "Notes")


OLD = '<p:cmLst xmlns:p="p"><p:cm authorId="0"><p:text>Too long</p:text></p:cm></p:cmLst>'
NEW = (
    '<m:cmLst xmlns:m="m" xmlns:a="a"><m:cm authorId="{1}"><m:replyLst><m:reply authorId="{2}"><m:txBody><a:p><a:r><a:t>Yes</a:t></a:r>'
    "</a:p></m:txBody></m:reply></m:replyLst><m:txBody><a:p><a:r><a:t>Is it?</a:t></a:r></a:p></m:txBody></m:cm></m:cmLst>"
)
AUTHORS = '<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Ann"/><p:cmAuthor id="{2}" name="Bob"/></p:cmAuthorLst>'


@pytest.mark.parametrize(("comments", "texts"), [(OLD, ["Ann: Too long"]), (NEW, ["Is it?", "Bob: Yes"])])
def test_comments(tmp_path: Path, comments: str, texts: list[str]):
    relation = b'<Relationship Id="r99" Type="http://x/relationships/comments" Target="../comments/c1.xml"/></Relationships>'

    def change(name: str, data: bytes) -> bytes:
        return data.replace(b"</Relationships>", relation) if name == "ppt/slides/_rels/slide1.xml.rels" else data

    path = rewritten(deck(tmp_path / "a"), change, {"ppt/comments/c1.xml": comments, "ppt/commentAuthors.xml": AUTHORS})
    found = [each for each in read(path).blocks if each.heading_path[-1:] == ("Comments",)]
    assert [each.text for each in found] == texts


def test_alternatives_are_read_once(tmp_path: Path):
    body = b"<p:txBody><a:bodyPr/><a:p><a:r><a:t>%s</a:t></a:r></a:p></p:txBody>"
    shape = b"<p:sp><p:nvSpPr><p:cNvPr id='9' name='n'/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>" + body + b"</p:sp>"
    inner = b"<mc:Choice Requires='a14'>" + shape % b"new way" + b"</mc:Choice><mc:Fallback>" + shape % b"old way" + b"</mc:Fallback>"
    whole = (
        b"<mc:AlternateContent xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'>" + inner + b"</mc:AlternateContent>"
    )

    def change(name: str, data: bytes) -> bytes:
        return data.replace(b"</p:spTree>", whole + b"</p:spTree>") if name == "ppt/slides/slide3.xml" else data

    text = read(rewritten(deck(tmp_path / "a"), change)).text
    assert "new way" in text
    assert "old way" not in text


def test_slide_shows_can_be_read(tmp_path: Path):
    def change(name: str, data: bytes) -> bytes:
        return data.replace(b"presentation.main+xml", b"slideshow.main+xml") if name == "[Content_Types].xml" else data

    assert read(rewritten(deck(tmp_path / "a"), change)).blocks[0].text == "Goals für 2025"


def test_no_text_gives_no_blocks(tmp_path: Path):
    made = Presentation()
    made.slides.add_slide(made.slide_layouts[1])
    made.save(str(tmp_path / "a"))
    assert read(tmp_path / "a").blocks == ()


def test_too_many_blocks(tmp_path: Path):
    with pytest.raises(BudgetExceeded):
        read(deck(tmp_path / "a"), max_blocks=3)


def test_damaged_cut_off_and_empty(tmp_path: Path):
    path = deck(tmp_path / "a")
    whole = path.read_bytes()
    for content in (whole[:-400], b"PK\x03\x04 no zip", b"rubbish"):
        path.write_bytes(content)
        with pytest.raises(CorruptDocument):
            read(path)
    path.write_bytes(b"")
    with pytest.raises(EmptyFile):
        read(path)
    path.write_bytes(whole)
    with pytest.raises(CorruptDocument):
        read(rewritten(path, lambda name, data: data[: len(data) // 2] if name == "ppt/slides/slide1.xml" else data))


def test_another_zip(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("other.txt", "x")
    with pytest.raises(CorruptDocument):
        read(tmp_path / "a")


def test_bombs(tmp_path: Path):
    with pytest.raises(BudgetExceeded):
        read(rewritten(deck(tmp_path / "a"), lambda _, data: data, {"ppt/media/a.bin": "0" * 60_000_000}))
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE w [<!ENTITY e0 "ha">{levels}]>'.encode()

    def change(name: str, data: bytes) -> bytes:
        return data.replace(b"<p:sld ", bomb + b"<p:sld ").replace(b"inner", b"&e9;") if name == "ppt/slides/slide1.xml" else data

    path = rewritten(deck(tmp_path / "b"), change)
    with pytest.raises(CorruptDocument):
        read(path)


def test_a_chart_with_far_values_stays_small(tmp_path: Path):
    series = "".join(
        f'<c:ser><c:tx><c:v>s{n}</c:v></c:tx><c:val><c:pt idx="{n}"><c:v>{n}</c:v></c:pt></c:val></c:ser>' for n in range(3000)
    )

    def change(name: str, data: bytes) -> bytes:
        return f'<c:chart xmlns:c="c">{series}</c:chart>'.encode() if name.startswith("ppt/charts/chart") else data

    tables = [each for each in read(rewritten(deck(tmp_path / "a"), change)).blocks if each.kind == "table"]
    assert tables[-1].header == ("", "s2999")
    assert len(tables) == 3001
