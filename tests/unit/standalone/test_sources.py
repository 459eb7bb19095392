"""Which files the arguments of `eunoe ingest` mean, and under which custom_id."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from eunoe_contracts.errors import InvalidField
from eunoe_standalone.cli.sources import find_sources


def custom_ids(*arguments: Path | str) -> list[str]:
    return [each.custom_id for each in find_sources([str(each) for each in arguments])]


@pytest.fixture
def two_folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("a", "b"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "notes.md").write_text(name, encoding="utf-8")
    (tmp_path / "a" / "deep" / "only.md").write_text("a", encoding="utf-8")
    return tmp_path / "a", tmp_path / "b"


def test_a_path_below_the_folder(two_folders: tuple[Path, Path]) -> None:
    assert custom_ids(two_folders[0]) == ["deep/only.md", "notes.md"]


def test_files_of_one_name_do_not_replace_each_other(two_folders: tuple[Path, Path]) -> None:
    first, second = two_folders
    assert custom_ids(first, second) == ["deep/only.md", "a/notes.md", "b/notes.md"]
    assert custom_ids(first / "notes.md", second / "notes.md") == ["a/notes.md", "b/notes.md"]
    assert custom_ids(f"{first.parent}/*/notes.md") == ["a/notes.md", "b/notes.md"]


def test_a_longer_custom_id_that_is_taken_becomes_the_whole_path(two_folders: tuple[Path, Path]) -> None:
    first, second = two_folders
    (first / "b").mkdir()
    (first / "b" / "notes.md").write_text("another", encoding="utf-8")
    found = custom_ids(first, second)
    assert len(set(found)) == len(found)
    assert (second / "notes.md").as_posix() in found


def test_the_same_file_twice_counts_once(two_folders: tuple[Path, Path]) -> None:
    first, _ = two_folders
    assert custom_ids(first / "notes.md", first) == ["notes.md", "deep/only.md"]


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("pipe", "dangling"):
        with pytest.raises(InvalidField, match="not a file or folder"):
            custom_ids(tmp_path / name)
    assert custom_ids(tmp_path) == []


def test_what_the_system_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidField, match="too long"):
        custom_ids("a" * 5000)

    def refuse(folder: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "iterdir", refuse)  # root may read every folder
    with pytest.raises(InvalidField, match=f"{tmp_path}: Permission denied"):
        custom_ids(tmp_path)
