from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile
from eunoe_extractor.backends import xml_data
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument

Read = Callable[..., ParsedDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(content: str | bytes, **options: int) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return xml_data.parse(path, name="a.xml", options=ParseOptions(**options))

    return reader


def test_records_are_a_table(read: Read):
    document = read('<?xml version="1.0"?><r><c id="1"><name>Chad</name></c><c id="2"><name>France &amp; co</name><big>yes</big></c></r>')
    heading, table = document.blocks
    assert heading.text == "c"
    assert table.header == ("id", "name", "big")
    assert table.rows == (("1", "Chad", ""), ("2", "France & co", "yes"))


def test_all_records_come_out(read: Read):
    document = read("<r>" + "".join(f"<i><a>{number}</a><b>x</b></i>" for number in range(1001)) + "</r>")
    assert [row[0] for block in document.blocks for row in block.rows] == [str(number) for number in range(1001)]


def test_texts_and_attributes_in_order(read: Read):
    document = read(
        '<order xmlns:x="urn:x" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:x y.xsd" x:no="7">'
        "<!-- hidden --><?php hidden ?><to><name>Ann</name></to><note>see <b>this</b> now</note>"
        "<to>Bob</to><flag on='1'>z</flag><e/></order>"
    )
    assert document.text == "no: 7\nto.name: Ann\nnote: see this now\nto: Bob\nflag.on: 1\nflag.text: z\ne:"


PROSE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//X//DTD X//EN" "x.dtd">
<article xml:lang="en"><front><title-group><article-title>On <i>birds</i></article-title></title-group></front><body>
<sec><title>Intro</title><p>First <b>bold</b> text.</p>
<p>Before<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>after</p>
<sec><title>Deeper</title><list><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list></sec></sec>
<sec><title>End</title><pre>x = 1
y = 2</pre><ref><name>Lee</name><year>2020</year></ref></sec></body></article>"""


def test_prose(read: Read):
    document = read(PROSE)
    assert document.title == "On birds"
    assert document.metadata == {"charset": "utf-8", "language": "en"}
    assert [(block.kind.value, block.text, block.heading_path) for block in document.blocks] == [
        ("heading", "On birds", ()),
        ("heading", "Intro", ()),
        ("paragraph", "First bold text.", ("Intro",)),
        ("paragraph", "Before", ("Intro",)),
        ("table", "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |", ("Intro",)),
        ("paragraph", "after", ("Intro",)),
        ("heading", "Deeper", ("Intro",)),
        ("list", "- one\n- two", ("Intro", "Deeper")),
        ("heading", "End", ()),
        ("code", "x = 1\ny = 2", ("End",)),
        ("paragraph", "Lee 2020", ("End",)),
    ]


def test_character_sets(read: Read):
    assert "Ñandú" in read('<?xml version="1.0" encoding="UTF-8"?><a>Ñandú</a>'.encode("utf-16")).text  # the mark wins
    assert "Žluť" in read('<?xml version="1.0" encoding="iso-8859-2"?><a>Žluť</a>'.encode("iso-8859-2")).text
    assert "日本" in read("<a><b>日本</b></a>").text


def test_entities_that_are_short_are_put_in(read: Read):
    text = read('<!DOCTYPE a [<!ENTITY co "A &amp; B"><!ENTITY long "&co; Ltd">]><a><b>&long; &eacute; &lt;x&gt;</b></a>').text
    assert text == "b: A & B Ltd é <x>"


def test_other_files_are_not_read(read: Read, tmp_path: Path):
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    document = read(f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><a><b>one &x; two</b></a>')
    assert document.text == "b: one two".replace("one two", "one  two")
    assert "other files" in document.warnings[0]
    assert "SECRET" not in read(f'<!DOCTYPE a SYSTEM "file://{tmp_path}/secret"><a>x</a>').text
    xinclude = f'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file://{tmp_path}/secret" parse="text"/></a>'
    assert "SECRET" not in read(xinclude).text


def laughs(content: str) -> str:
    levels = "".join(f'<!ENTITY l{number} "{f"&l{number - 1};" * 10}">' for number in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY l0 "lol">{levels}]>{content}'


@pytest.mark.parametrize(
    "content",
    [
        laughs("<a>&l9;</a>"),
        laughs("<a>x</a>"),
        laughs('<a b="&l9;">x</a>'),
        '<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>',
        f'<!DOCTYPE a [<!ENTITY x "{"x" * 9000}">]><a>{"&x;" * 100_000}</a>',
        f'<!DOCTYPE a [<!ENTITY x "{"x" * 20_000}">]><a>&x;</a>',
    ],
)
def test_entity_bombs(read: Read, content: str):
    with pytest.raises(CorruptDocument):
        read(content)


@pytest.mark.parametrize("content", ["<a><b>x</b>", "<a>x</b>", "no xml", "<a>&unknown;</a>", "<a b=1/>", "<a/><b/>", "<?xml"])
def test_damaged_or_cut_off(read: Read, content: str):
    with pytest.raises(CorruptDocument) as caught:
        read(content)
    assert "unknown" not in str(caught.value)


def test_empty(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    for nothing in (" \n", '<?xml version="1.0"?>\n', "<a/>", "<a> <b/> </a>"):
        assert read(nothing).text in {"", "b:"}


def test_depth(read: Read):
    assert "deepest" in read("<a>" * 200 + "deepest" + "</a>" * 200).text
    assert "deepest" in read("<a>" * 200 + "<p>deepest</p>" + "</a>" * 200).text
    with pytest.raises(BudgetExceeded):
        read("<a>" * 5000 + "x" + "</a>" * 5000)


def test_absurd_sizes(read: Read):
    with pytest.raises(BudgetExceeded):
        read("<a " + " ".join(f'a{number}="x"' for number in range(20_000)) + "/>")
    with pytest.raises(BudgetExceeded):
        read("<a><b>" + "x" * 11_000_000 + "</b></a>")
    with pytest.raises(BudgetExceeded):
        read("<a>" + "<p>x</p>" * 100 + "</a>", max_blocks=50)
    assert read("<a>" + "<b>" * 150 + "<p>x</p>" * 5000 + "</b>" * 150 + "</a>").text.count("x") == 5000
