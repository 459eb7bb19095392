from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from eunoe_contracts.errors import BudgetExceeded, EmptyFile
from eunoe_extractor.backends import yaml_data
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument
from hypothesis import given
from hypothesis import strategies as st

Read = Callable[..., ParsedDocument]


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def read(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Read:
    monkeypatch.setattr(yaml_data, "LOADER", getattr(yaml, request.param, yaml.SafeLoader))

    def reader(content: str | bytes, **options: int) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return yaml_data.parse(path, name="a.yaml", options=ParseOptions(**options))

    return reader


def test_keys_values_and_comments(read: Read):
    document = read(
        "# 上の注\ntitle: Plan\n"
        "version: 1.10  # 注 one\nurl: 'http://x/#y' # quoted\nmode: 0755\non: no\nscript: |\n  # no comment\n  run\n"
        "nested:\n  # inside\n  key: [a, b]\nnone: ~\n# last\n"
    )
    assert document.title == "Plan"
    assert document.text == (
        "# 上の注\ntitle: Plan\n"
        "version: 1.10\n# 注 one\nurl: http://x/#y\n# quoted\nmode: 0755\non: no\n"
        "script: # no comment\nrun\n# inside\nnested.key: a, b\nnone:\n# last"
    )


def test_lists_of_flat_objects_are_tables(read: Read):
    heading, table = read("users:\n- {name: Ann, age: 4}\n- name: Bob\n  age: 5\n").blocks
    assert heading.text == "users"
    assert table.header == ("name", "age")
    assert table.rows == (("Ann", "4"), ("Bob", "5"))


def test_comments_stay_at_their_places(read: Read):
    document = read("# above\n- {a: 1}\n# between\n- {a: 2}\n")
    assert document.text == "# above\n1.a: 1\n# between\n2.a: 2"
    assert [block.kind.value for block in read("# above\n- {a: 1}\n- {a: 2}\n# below\n").blocks] == [
        "paragraph", "table", "paragraph",
    ]  # fmt: skip
    assert read("k: [1,\n  # inside\n  2]\nl:\n- x\n# item\n- y\n").text == "# inside\nk: 1, 2\n# item\nl: x, y"
    assert read("# one\nplain words\n").text == "# one\nplain words"


def test_all_records_come_out(read: Read):
    document = read("".join(f"- id: {number}\n  b: x\n" for number in range(500)))
    assert [row[0] for block in document.blocks for row in block.rows] == [str(number) for number in range(500)]


def test_several_documents(read: Read):
    document = read("---\nkind: A\n---\nkind: B\n...\n---\n---\n- c\n")
    assert [(block.text, block.heading_path) for block in document.blocks] == [
        ("Document 1", ()),
        ("kind: A", ("Document 1",)),
        ("Document 2", ()),
        ("kind: B", ("Document 2",)),
        ("Document 3", ()),
        ("- c", ("Document 3",)),
    ]


def test_short_aliases_are_read_as_what_they_stand_for(read: Read):
    text = read("base: &b {image: nginx}\nweb:\n  <<: *b\n  port: 80\nname: &n x\nagain: *n\n? [k, l]\n: both\n").text
    assert text == "base.image: nginx\nweb.<<.image: nginx\nweb.port: 80\nname: x\nagain: x\nk, l: both"


def test_nothing_is_constructed(read: Read):
    document = read("a: !!python/object/apply:os.system ['echo no']\nb: !custom {x: 1}\nc: !!binary aGk=\nd: 2001-99-99\n")
    assert document.text == "a: echo no\nb.x: 1\nc:\nd: 2001-99-99"


@pytest.mark.parametrize("inner", ["[{}]", "{{<<: [{}]}}"])
def test_alias_bombs(read: Read, inner: str):
    bomb = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} " + inner.format(", ".join([f"*a{n - 1}"] * 9)) + "\n" for n in range(1, 30))
    document = read(bomb)
    assert len(document.text) < 20_000
    assert "*a28" in document.text


def test_many_aliases_of_a_long_text(read: Read):
    assert len(read(f"a: &a {'x' * 1900}\nl: [{', '.join(['*a'] * 10_000)}]\n").text) < 2_000_000


def test_an_alias_of_what_holds_it(read: Read):
    assert read("a: &a [*a, x]\n").text == "a: *a, x"


def test_what_does_not_parse_is_kept_as_text(read: Read):
    for content in ("a: [1, 2\nb: {{ value }}\n\nlast words\n", "a: 1\n---\nb: 'cut", "\tx: y: z\n"):
        document = read(content)
        assert document.warnings == ("the file is not valid YAML; its text was kept as it is",)
        assert "".join(document.text.split()) == "".join(content.split())


def test_depth(read: Read):
    assert "deepest" in read("[" * 300 + "deepest" + "]" * 300).text
    try:
        assert "not valid" in read("[" * 100_000).warnings[0]
    except BudgetExceeded:
        assert yaml_data.LOADER is yaml.SafeLoader
    with pytest.raises(BudgetExceeded):
        read("- " * 2000 + "x")
    with pytest.raises(BudgetExceeded):
        read("\n".join(" " * number + "a:" for number in range(1000)))


def test_number_of_blocks_is_bounded(read: Read):
    with pytest.raises(BudgetExceeded):
        read("".join(f"k{number}: {'x' * 3000}\n" for number in range(30)), max_blocks=20)


def test_empty(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    for nothing in (" \n", "---\n", "{}", "[]", "---\n---\n"):
        assert read(nothing).blocks == ()
    assert read("# only a remark\n").text == "# only a remark"


@given(
    st.lists(
        st.sampled_from(["a: word", "b:", "  - word", "  c: word", "# word", "- word", "---", "x: [word, word]", "", "word"]), max_size=12
    )
)
def test_no_word_is_lost(tmp_path_factory: pytest.TempPathFactory, lines: list[str]):
    path = tmp_path_factory.getbasetemp() / "property.yaml"
    text = "\n".join(lines) or " "
    path.write_text(text, encoding="utf-8")
    assert yaml_data.parse(path, name="x", options=ParseOptions()).text.count("word") == text.count("word")
