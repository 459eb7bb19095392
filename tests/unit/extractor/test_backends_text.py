from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from eunoe_contracts.errors import EmptyFile
from eunoe_extractor.backends import code, html, markdown, text
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import Block, ParsedDocument
from hypothesis import given
from hypothesis import strategies as st

OPTIONS = ParseOptions()
Read = Callable[..., ParsedDocument]


def kinds(document: ParsedDocument) -> list[str]:
    return [each.kind.value for each in document.blocks]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(backend: ModuleType, content: str | bytes, name: str = "file") -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        document: ParsedDocument = backend.parse(path, name=name, options=OPTIONS)
        return document

    return reader


@pytest.mark.parametrize("backend", [text, markdown, code, html])
def test_no_bytes(read: Read, backend: ModuleType):
    with pytest.raises(EmptyFile):
        read(backend, b"")


@pytest.mark.parametrize("backend", [text, markdown, html])
def test_white_space_only_gives_no_blocks(read: Read, backend: ModuleType):
    assert read(backend, " \n\n \t").blocks == ()


def test_text_paragraphs_keep_their_lines(read: Read):
    document = read(text, "one\r\ntwo  \r\n\r\n   \r\n  three\x00\n")
    assert [each.text for each in document.blocks] == ["one\ntwo", "  three"]
    assert document.metadata["charset"] == "utf-8"


def test_text_charset_is_guessed_with_a_warning(read: Read):
    document = read(text, ("Однажды, в студеную зимнюю пору. " * 3).encode("cp866"))
    assert "Однажды" in document.text
    assert "guessed" in document.warnings[0]


MARKDOWN = """---
title: "The report"
author: Ann
---
# First

Intro line one
line two

Second
------

- item
  more
  - nested

  paragraph of the item
1. other

> quoted
lazy
> more

```python
# no heading
x = 1
```

| a | b\\|c |
|---|:--:|
| 1 | 2 |
3 | 4

***

    indented code

### Deep ###
end
"""


def test_markdown_blocks(read: Read):
    document = read(markdown, MARKDOWN)
    assert document.title == "The report"
    assert document.metadata["author"] == "Ann"
    assert kinds(document) == [
        "code", "heading", "paragraph", "heading", "list", "quote", "code", "table", "code", "heading", "paragraph",
    ]  # fmt: skip
    _, first, intro, second, items, quote, fenced, table, indented, deep, end = document.blocks
    assert (first.text, first.level, first.heading_path) == ("First", 1, ())
    assert intro.text == "Intro line one\nline two"
    assert (second.text, second.level, second.heading_path) == ("Second", 2, ("First",))
    assert items.text.startswith("- item")
    assert items.text.endswith("1. other")
    assert quote.text == "quoted\nlazy\nmore"
    assert (fenced.text, fenced.language) == ("# no heading\nx = 1", "python")
    assert table.header == ("a", "b|c")
    assert table.rows == (("1", "2"), ("3", "4"))
    assert table.text.split("\n")[0] == "| a | b\\|c |"
    assert indented.text == "indented code"
    assert deep.level == 3
    assert end.heading_path == ("First", "Second", "Deep")


def test_markdown_title_is_the_first_heading(read: Read):
    assert read(markdown, "# Title\n\n## Part").title == "Title"
    assert read(markdown, "no heading").title == ""


@given(st.lists(st.sampled_from(["# h", "text", "", "- a", "  b", "```", "> q", "| a |", "|--|", "---", "    c", "==="]), max_size=30))
def test_markdown_loses_no_words(lines: list[str]):
    blocks = markdown.BlockList()
    markdown.add_markdown(blocks, list(lines))
    got = " ".join(each.text for each in blocks.blocks)
    for word in "hbcq":
        assert sum(line.split()[-1:] == [word] for line in lines) <= got.split().count(word)


PAGE = """<!doctype html><html lang="en"><head><title>A &amp; B</title><style>.x{color:red}</style></head><body>
<script>var hidden = 1;</script><h1>Top</h1><p>Some <b>bold</b> text with a <a href="http://x.example/long">link</a>.</p>
<ul><li>one<ul><li>two</li></ul></li></ul>
<table><caption>Sizes</caption><tr><th>Name<th colspan=2>Size</tr><tr><td rowspan=2>a<td><p>1</p><p>2</p><td>3</tr><tr><td>4<td>5|6</tr>
</table>
<table><tr><td><h2>Layout</h2><p>inside a box</p></td></tr></table>
<pre><code class="language-go">func main() {
    x := 1
}</code></pre><blockquote>Wise words</blockquote><p>1. not a list</p><img src="data:image/png;base64,AAAA" alt="x"></body></html>"""


def test_html_blocks(read: Read):
    document = read(html, PAGE)
    assert document.title == "A & B"
    assert document.metadata == {"charset": "utf-8", "language": "en"}
    assert kinds(document) == ["heading", "paragraph", "list", "paragraph", "table", "heading", "paragraph", "code", "quote", "paragraph"]
    assert document.blocks[1].text == "Some bold text with a link."
    table, listing = document.blocks[4], document.blocks[7]
    assert table.header == ("Name", "Size", "")
    assert table.rows == (("a", "1 2", "3"), ("a", "4", "5|6"))
    assert (listing.text, listing.language) == ("func main() {\n    x := 1\n}", "go")
    assert document.blocks[9].text == "1. not a list"
    for absent in ("hidden", "color:red", "base64", "http:"):
        assert absent not in document.text


def test_html_title_is_h1_without_a_title_tag(read: Read):
    assert read(html, "<h2>a</h2><h1>Real</h1>").title == "Real"


def test_html_nesting_without_end_stays_small_and_keeps_text(read: Read):
    lists = read(html, "<ul><li>word" * 3000)
    assert lists.text.count("word") == 3000
    assert len(lists.text) < 200_000
    assert "deep" in read(html, "<div>" * 20_000 + "deep").text


def test_html_external_entities_are_not_read(read: Read, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("SECRET", encoding="utf-8")
    page = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]><html><body><p>a &x; b</p></body></html>'
    assert "SECRET" not in read(html, page).text


PYTHON = '''"""Module."""
import os

LIMIT = 3


# what it does
@decorator
def first(a):
    return a


class Big:
    """Doc."""

    value = 1

    def one(self):
        pass
''' + "".join(f"\n    def method_{n}(self):\n        return {n}\n\n        # done\n" for n in range(20))


def test_code_keeps_function_and_class_bounds(read: Read):
    document = read(code, PYTHON, "pkg/big.py")
    assert document.title == "big.py"
    assert {each.language for each in document.blocks} == {"python"}
    by_path = {each.heading_path: each.text for each in document.blocks}
    assert by_path[()].startswith('"""Module."""')
    assert by_path["first",].startswith("# what it does\n@decorator\ndef first")
    assert by_path["Big",].startswith("class Big:")
    assert by_path["Big", "method_7"].strip().startswith("def method_7")
    assert lines_of(document.blocks) == [line for line in PYTHON.split("\n") if line.strip()]


def lines_of(blocks: tuple[Block, ...]) -> list[str]:
    return [line for each in blocks for line in each.text.split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("name", "source", "names"),
    [
        ("a.js", "import x\n\nexport async function go(a) {\n  return 1\n}\n\nconst f = (b) => {\n  b\n}\n", ["go", "f"]),
        ("a.go", "package main\n\ntype T struct {\n}\n\nfunc (t *T) Run(x int) error {\n\tif x > 1 {\n\t}\n}\n", ["T", "Run"]),
        ("a.rs", "pub struct S;\n\n/// doc\nimpl S {\n    pub fn new() -> Self { S }\n}\n", ["S", "S"]),
        ("a.c", "#include <x.h>\n\nstatic int add(int a, int b)\n{\n    return a + b;\n}\n", ["add"]),
        ("a.java", "package p;\n\npublic class A {\n    void f() {\n    }\n}\n", ["A"]),
        ("a.rb", "module M\n  def x\n  end\nend\n", ["M"]),
        ("a.sh", "#!/bin/sh\nrun() {\n  echo\n}\n", ["run"]),
        ("a.sql", "CREATE TABLE t (a int);\nSELECT 1;\n", ["TABLE t ", "1"]),
    ],
)
def test_code_of_other_languages(read: Read, name: str, source: str, names: list[str]):
    document = read(code, source, name)
    assert lines_of(document.blocks) == [line for line in source.split("\n") if line.strip()]
    assert [each.heading_path[0].strip() for each in document.blocks if each.heading_path][: len(names)] == [each.strip() for each in names]


@given(st.text(alphabet="ab (){}\n#:;def class", max_size=300), st.sampled_from(["a.py", "a.js", "a.rb", "a", "a.sql"]))
def test_code_loses_no_line(source: str, name: str):
    lines = source.split("\n")
    units = code._units(lines, code._language(name, lines[0]))
    assert [line for _, part in units for line in part] == lines
