from __future__ import annotations

import stat
import struct
import warnings
import zipfile
from pathlib import Path

import pytest
from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EncryptedDocument
from eunoe_safety.archive_budget import ArchiveBudget, check_zip

SMALL = ArchiveBudget(members=5, total_bytes=1_000_000, member_bytes=600_000, ratio=50, ratio_from=100_000, nested=1)


def made(path: Path, members: list[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # zipfile warns of the duplicate names that a test wants
        for name, data in members:
            archive.writestr(name, data)
    return path


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_harmless(tmp_path: Path):
    assert check_zip(made(tmp_path / "a", [("word/document.xml", b"text" * 100), ("b", b"")]), SMALL) == ["word/document.xml", "b"]


@pytest.mark.parametrize(
    "members",
    [
        [(str(index), b"") for index in range(6)],
        [("a", bytes(700_000))],
        [("a", bytes(range(256)) * 2000), ("b", bytes(range(256)) * 2000)],
        [("a", bytes(200_000))],
        [("/etc/passwd", b"x")],
        [("../up", b"x")],
        [("a\\..\\..\\b", b"x")],
        [("C:/x", b"x")],
        [("same", b"x"), ("same", b"y")],
        [(link("link"), b"/etc/passwd")],
        [("a.zip", b"PK\x03\x04x"), ("b.zip", b"PK\x03\x04y")],
    ],
    ids=["members", "member size", "total", "ratio", "absolute", "parent", "backslash", "drive", "twice", "link", "nested"],
)
def test_over_budget(tmp_path: Path, members: list[tuple[str | zipfile.ZipInfo, bytes]]):
    with pytest.raises(BudgetExceeded):
        check_zip(made(tmp_path / "a", members), SMALL)


def test_sizes_in_headers_are_not_believed(tmp_path: Path):
    path = made(tmp_path / "a", [("a", bytes(range(256)) * 4000)])
    data = bytearray(path.read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, directory + 24, 10)
    path.write_bytes(data)
    with pytest.raises((BudgetExceeded, CorruptDocument)):
        check_zip(path, SMALL)


def test_members_on_top_of_each_other(tmp_path: Path):
    path = made(tmp_path / "a", [("a", b"x" * 50), ("b", b"y" * 50)])
    data = bytearray(path.read_bytes())
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 1)
    path.write_bytes(data)
    with pytest.raises(BudgetExceeded):
        check_zip(path, SMALL)


def test_encrypted_member(tmp_path: Path):
    path = made(tmp_path / "a", [("a", b"x" * 50)])
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(EncryptedDocument):
        check_zip(path, SMALL)


@pytest.mark.parametrize("keep", [0, 10, 60])
def test_cut_off(tmp_path: Path, keep: int):
    path = made(tmp_path / "a", [("a", b"x" * 500)])
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CorruptDocument):
        check_zip(path, SMALL)
