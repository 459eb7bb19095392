"""How far a zip container may unfold. Counts what is really inflated; what the headers promise is not believed."""

from __future__ import annotations

import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eunoe_contracts.errors import BudgetExceeded, CorruptDocument, EncryptedDocument

MIB = 1024 * 1024
PIECE = 256 * 1024
NESTED = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class ArchiveBudget:
    """Ceilings of one container: members, bytes after inflating (in all and per member), inflated over stored size once more than
    `ratio_from` bytes came out, and members that are containers themselves.
    """

    members: int = 5_000
    total_bytes: int = 256 * MIB
    member_bytes: int = 128 * MIB
    ratio: float = 200.0
    ratio_from: int = 8 * MIB
    nested: int = 50


DEFAULT_BUDGET = ArchiveBudget()


def check_zip(path: Path, budget: ArchiveBudget = DEFAULT_BUDGET) -> list[str]:
    """Inflate every member once, piece by piece and without keeping it; returns the member names. Needs constant memory.

    Raises `BudgetExceeded` (too many, too large, hostile names, links, members that overlap or stand twice), `EncryptedDocument`
    and `CorruptDocument`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_list(members, budget)
            _check_content(archive, members, path.stat().st_size, budget)
            return [each.filename for each in members]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, ValueError, OSError) as error:
        raise CorruptDocument("the container of the document is damaged or cut off") from error


def _check_list(members: list[zipfile.ZipInfo], budget: ArchiveBudget) -> None:
    if len(members) > budget.members:
        raise BudgetExceeded(f"the document has more than {budget.members} parts")
    if any(each.flag_bits & 1 for each in members):
        raise EncryptedDocument
    names = [each.filename for each in members]
    if len(set(names)) != len(names) or any(_hostile(each) for each in members):
        raise BudgetExceeded("the document has parts with names that are not allowed")
    end = -1
    for each in sorted(members, key=lambda member: member.header_offset):
        if each.header_offset < end:
            raise BudgetExceeded("parts of the document lie on top of each other")
        end = each.header_offset + each.compress_size


def _hostile(member: zipfile.ZipInfo) -> bool:
    name = member.orig_filename  # zipfile itself cuts names at a zero byte
    path = PurePosixPath(name.replace("\\", "/"))
    is_link = stat.S_ISLNK(member.external_attr >> 16)
    return path.is_absolute() or ".." in path.parts or ":" in name[:3] or "\0" in name or is_link


def _check_content(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], stored: int, budget: ArchiveBudget) -> None:
    total = nested = 0
    for member in members:
        size = 0
        with archive.open(member) as stream:
            while piece := stream.read(PIECE):
                nested += size == 0 and piece.startswith(NESTED)
                size += len(piece)
                if size > budget.member_bytes or total + size > budget.total_bytes:
                    raise BudgetExceeded("the document expands beyond the limits of this server")
                if total + size > max(budget.ratio_from, stored * budget.ratio):
                    raise BudgetExceeded("the document expands far beyond its stored size")
        total += size
    if nested > budget.nested:
        raise BudgetExceeded("the document holds too many files inside it")
