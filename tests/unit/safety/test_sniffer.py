from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest
from eunoe_contracts.errors import CorruptDocument, EmptyFile, UnsupportedFormat
from eunoe_safety.sniffer import sniff, sniff_path

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.mark.parametrize(
    ("head", "name", "declared", "expected"),
    [
        (b"plain words", "", "", "text"),
        (b"plain words", "notes.txt", "text/plain", "text"),
        (b"# Title\n\nwords", "a.md", "", "markdown"),
        (b"# Title\n\nwords", "", "text/markdown; charset=utf-8", "markdown"),
        (b"def f(): pass", "a.py", "", "code"),
        (b"#!/bin/sh\necho", "run", "", "code"),
        (b"<!DOCTYPE html><p>x", "", "", "html"),
        (b"\xef\xbb\xbf <!-- c --><html>", "a.txt", "", "html"),
        (b"<p>no doctype</p>", "a.html", "", "html"),
        (b"%PDF-1.7\n%\xe2\xe3", "a.pdf", "application/pdf", "pdf"),
        (b"\x00\x01junk" + b"%PDF-1.4\n\x00", "a", "", "pdf"),
        ("häuser".encode("utf-16"), "a.txt", "", "text"),
        ("plain words in wide form".encode("utf-16-le"), "a.txt", "", "text"),
        ("русский текст".encode("cp866"), "a.txt", "", "text"),
        (b"a,b\n1,2\n", "a.csv", "", "csv"),
        (b"a,b\n1,2\n", "", "text/csv", "csv"),
        (b"a,b\n1,2\n", "a.txt", "", "text"),
        (b"a\tb\n", "a.tsv", "", "tsv"),
        (b'{"a": 1}', "a.json", "", "json"),
        (b'{"a": 1}', "", "application/json; charset=utf-8", "json"),
        (b'{"a": 1}\n{"a": 2}\n', "a.ndjson", "", "jsonl"),
        (b"a: 1\n", "a.yml", "", "yaml"),
        (b"Title\n=====\n", "a.rst", "", "rst"),
        (b"<note><to>Ann</to></note>", "a.xml", "", "xml"),
        (b'<?xml version="1.0"?>\n<note/>', "a.txt", "", "xml"),
        (b'<?xml version="1.0"?>\n<html>', "a.txt", "", "html"),
        (b"\xef\xbb\xbfWEBVTT\n\n00:01.000 --> 00:02.000\nHello", "a.txt", "", "vtt"),
        (b"1\n00:00:01,000 --> 00:00:02,000\nHello", "", "", "srt"),
        (b"WEBVTTX is no mark", "", "", "text"),
        (b"key = 1\n", "a.toml", "", "text"),
        (b"{\\rtf1 x}", "a.txt", "", "rtf"),
        (b"<div>a note about %PDF- files", "a.md", "", "markdown"),
    ],
)
def test_supported(head: bytes, name: str, declared: str, expected: str):
    assert sniff(head, name=name, declared=declared).require() == expected


@pytest.mark.parametrize(
    ("head", "name", "word"),
    [
        (PNG, "a.png", "png"),
        (random.Random(1).randbytes(4096), "a.bin", "binary"),
        (b"text with a \x00 zero byte", "a.txt", "binary"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nbody", "a.eml", "mail"),
        (b'<svg xmlns="http://www.w3.org/2000/svg">', "a.svg", "SVG"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc", "Office"),
    ],
)
def test_unsupported_says_what_it_is_and_what_would_do(head: bytes, name: str, word: str):
    found = sniff(head, name=name)
    assert found.format_id is None
    with pytest.raises(UnsupportedFormat, match=word) as caught:
        found.require()
    assert "supported are text, markdown, " in caught.value.message


def test_name_never_overrides_binary_content():
    assert sniff(PNG, name="a.txt", declared="text/plain").format_id is None
    found = sniff(b"%PDF-1.7\n%\xe2\xe3\xcf", name="a.txt", declared="text/plain")
    assert found.format_id == "pdf"
    assert "the name says text" in found.warning


@pytest.mark.parametrize(
    ("name", "declared", "warns"),
    [
        ("a.pdf", "", True),
        ("", "application/pdf", True),
        ("a.txt", "application/octet-stream", False),
        ("a.md", "text/plain", False),
        ("", "", False),
    ],
)
def test_mismatch_is_a_warning(name: str, declared: str, warns: bool):  # a parameter of the table above
    found = sniff(b"just words", name=name, declared=declared)
    assert bool(found.warning) is warns


def test_empty():
    with pytest.raises(EmptyFile):
        sniff(b"", name="a.pdf")


def made(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_zip_family_by_members(tmp_path: Path):
    word = made(tmp_path / "w", {"[Content_Types].xml": "", "word/document.xml": ""})
    sheet = made(tmp_path / "s", {"[Content_Types].xml": "", "xl/workbook.xml": ""})
    book = made(tmp_path / "b", {"mimetype": "application/epub+zip"})
    bare = made(tmp_path / "z", {"a.txt": "x"})
    assert sniff_path(word, name="w.zip").format_id == "docx"
    found = sniff_path(sheet, name="s.docx")
    assert (found.format_id, found.warning) == ("xlsx", "the name says docx, the content is xlsx; it was read as xlsx")
    assert sniff_path(book).format_id == "epub"
    assert sniff(book.read_bytes(), name="b").format_id == "epub"
    assert sniff(sheet.read_bytes(), name="s").format_id == "xlsx"
    assert "zip archive" in sniff_path(bare).reason
    assert sniff(bare.read_bytes(), name="x.zip").full_look


def test_cut_container_is_corrupt(tmp_path: Path):
    whole = made(tmp_path / "w", {"[Content_Types].xml": "x" * 500, "word/document.xml": "y" * 500}).read_bytes()
    cut = tmp_path / "cut.docx"
    cut.write_bytes(whole[:600])
    with pytest.raises(CorruptDocument):
        sniff_path(cut, name="cut.docx")


def test_a_directory_that_holds_itself_is_corrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def endless(_: str) -> object:
        raise RecursionError

    monkeypatch.setattr("eunoe_safety.sniffer.olefile.OleFileIO", endless)
    path = tmp_path / "a.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(CorruptDocument):
        sniff_path(path, name="a.doc")
