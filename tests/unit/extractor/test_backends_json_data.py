from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EmptyFile
from eunoe_extractor.backends import json_data
from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.parsed import ParsedDocument
from hypothesis import given
from hypothesis import strategies as st

Read = Callable[..., ParsedDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(content: str | bytes, name: str = "a.json", **options: Any) -> ParsedDocument:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return json_data.parse(path, name=name, options=ParseOptions(**options))

    return reader


def test_small_data_are_lines_in_order(read: Read):
    document = read(
        '{"title": "Plan B", "size": 1.50, "on": true, "none": null, "tags": ["a", "b"], "by": {"name": "Ann", "at": {"c": 7}}}'
    )
    assert document.title == "Plan B"
    assert document.format_id == "json"
    assert [block.text for block in document.blocks] == [
        "title: Plan B\nsize: 1.50\non: true\nnone:\ntags: a, b\nby.name: Ann\nby.at.c: 7",
    ]


def test_large_data_have_headings(read: Read):
    big = {f"key{number}": f"value {number}" for number in range(100)}
    document = read(json.dumps({"outer": {"inner": big, "small": 1}, "last": "end"}))
    first, outer, small, inner, *parts = document.blocks
    assert first.text == "last: end"
    assert (outer.text, outer.level) == ("outer", 1)
    assert (small.text, small.heading_path) == ("small: 1", ("outer",))
    assert (inner.text, inner.level, inner.heading_path) == ("inner", 2, ("outer",))
    assert parts[0].heading_path == ("outer", "inner")
    lines = [line for block in parts for line in block.text.split("\n")]
    assert lines == [f"{key}: {value}" for key, value in big.items()]


def test_lists_of_flat_objects_are_tables(read: Read):
    heading, table = read('{"users": [{"name": "Ann", "age": 4}, {"name": "B|b", "tags": ["x", "y"]}]}').blocks
    assert heading.text == "users"
    assert table.header == ("name", "age", "tags")
    assert table.rows == (("Ann", "4", ""), ("B|b", "", "x, y"))
    assert table.heading_path == ("users",)


def test_all_records_come_out(read: Read):
    document = read(json.dumps([{"id": number, "text": f"t{number}"} for number in range(1001)]))
    assert [row[1] for block in document.blocks for row in block.rows] == [f"t{number}" for number in range(1001)]
    assert len(document.blocks) == 6


def test_records_that_are_not_alike(read: Read):
    document = read(json.dumps([{"a": {"deep": ["x"]}}, {"b": "y" * 3000}, {"c": 1}, "plain"]))
    assert "a.deep: x" in document.text
    assert "y" * 3000 in document.text
    assert document.blocks[-1].text == "c: 1\n\nplain"
    assert document.blocks[-1].heading_path == ()


def test_texts_with_paragraphs(read: Read):
    document = read(json.dumps({"body": "First part.\n\nSecond part."}))
    assert [(block.kind.value, block.text) for block in document.blocks] == [
        ("heading", "body"),
        ("paragraph", "First part."),
        ("paragraph", "Second part."),
    ]


def test_numbers_and_repeated_keys_stay_as_they_are_written(read: Read):
    digits = "9" * 100_000
    text = read(f'{{"a": {digits}, "b": 1e999, "c": 0.10, "c": -0}}').text
    assert digits in text
    assert "b: 1e999\nc: 0.10\nc: -0" in text


def test_other_scripts_escapes_and_controls(read: Read):
    text = read('{"имя": "\\u65e5\\u672c \\ud83d\\ude00", "x": "a\\u0000b\\ud800c", "raw": "line\u2028two"}').text
    assert text == "имя: 日本 😀\nx: abc\nraw: line\ntwo"
    assert "日本" in read('{"a": "日本"}'.encode("utf-16")).text


def test_long_keys_are_kept(read: Read):
    key = "k" * 5000
    assert key in read(json.dumps({key: {"x": "y" * 3000}})).text
    assert key in read(json.dumps({key: "y"})).text


@pytest.mark.parametrize("content", ['{"a": 1', '{"a": 1}}', "{'a': 1}", "[1, 2", "nonsense", '{"a": "cut'])
def test_damaged(read: Read, content: str):
    with pytest.raises(CorruptDocument) as caught:
        read(content)
    assert "cut" not in str(caught.value).replace("cut off", "")


def test_empty(read: Read):
    with pytest.raises(EmptyFile):
        read(b"")
    for nothing in ("", " \n", "\ufeff", "{}", "[]", "null", '""', "[{}, {}]"):
        assert read(f"{nothing} ").blocks == ()


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth(read: Read, opening: str):
    closing = "]" if opening == "[" else "}"
    document = read(opening * 400 + '"deepest"' + closing * 400)
    assert "deepest" in document.text
    assert len(document.text) < 1000
    with pytest.raises((BudgetExceeded, CorruptDocument)):
        read(opening * 100_000)
    with pytest.raises(BudgetExceeded):
        read(opening * 100_000 + "1" + closing * 100_000)


def test_depth_does_not_multiply_text(read: Read):
    content = '{"key":' * 90 + json.dumps(["x"] * 20_000) + "}" * 90
    assert len(read(content).text) < 2 * len(content)


def test_sparse_records_do_not_make_a_wide_table(read: Read):
    document = read(json.dumps([{f"k{number}": number} for number in range(5000)]))
    assert len(document.text) < 100_000
    assert "k4999: 4999" in document.text


def test_number_of_blocks_is_bounded(read: Read):
    with pytest.raises(BudgetExceeded):
        read(json.dumps([{"a": "x" * 3000}] * 50), max_blocks=20)


def test_lines(read: Read):
    document = read('{"sku": "A", "n": 1}\r\n\r\n{"sku": "B", "n": 2}\n"text"\n[1, 2]\n', "a.ndjson")
    assert document.format_id == "jsonl"
    assert document.warnings == ()
    assert document.text == "sku: A\nn: 1\n\nsku: B\nn: 2\n\ntext\n\n- 1\n- 2"


def test_lines_with_like_records_are_a_table(read: Read):
    document = read("".join(f'{{"id": {number}, "t": "a\u2028b"}}\n' for number in range(450)), "a.jsonl")
    assert document.text.count("id: ") == 450  # a line break in a value keeps it out of a table
    document = read("".join(f'{{"id": {number}, "t": "x"}}\n' for number in range(401)), "a.jsonl")
    assert [len(block.rows) for block in document.blocks] == [200, 200, 1]


def test_lines_are_told_by_the_format_as_well_as_by_the_name(read: Read):
    lines = '{"a": 1}\n{"a": 2}\n'
    assert read(lines, "export.txt", format_id="jsonl").format_id == "jsonl"
    found = read(lines, "export.json", format_id="json")
    assert found.format_id == "json"
    assert found.blocks[0].rows == (("1",), ("2",))
    assert "on each line" in found.warnings[-1]
    with pytest.raises(CorruptDocument):
        read('{"a": 1}\n{"a": ', "export.json", format_id="json")


def test_lines_that_are_not_json_are_kept(read: Read):
    document = read('{"a": 1}\n{"a": 2}\nnot json at all\n{"a": 3, "cut\n{"a": 4}\n', "a.jsonl")
    assert document.warnings == ("2 lines are not JSON; the text was kept as it is",)
    assert [block.text for block in document.blocks if not block.rows] == ['not json at all\n{"a": 3, "cut', "a: 4"]
    assert document.blocks[0].rows == (("1",), ("2",))
    with pytest.raises(EmptyFile):
        read(b"", "a.jsonl")


def test_large_lines_are_numbered(read: Read):
    document = read("\n".join(json.dumps({"t": "x" * 3000}) for _ in range(2)), "a.jsonl")
    assert [block.text for block in document.blocks if block.level == 1] == ["Record 1", "Record 2"]


leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just("word"))
values = st.recursive(leaves, lambda each: st.lists(each, max_size=5) | st.dictionaries(st.sampled_from("abc"), each), max_leaves=30)


@given(values)
def test_no_word_is_lost(tmp_path_factory: pytest.TempPathFactory, value: Any):
    path = tmp_path_factory.getbasetemp() / "property.json"
    text = json.dumps(value)
    path.write_text(text, encoding="utf-8")
    assert json_data.parse(path, name="x.json", options=ParseOptions()).text.count("word") == text.count('"word"')
