from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from eunoe_contracts.errors import StorageFull, StoreUnavailable
from eunoe_stores.blobs import staging
from eunoe_stores.blobs.folder import FolderBlobStore
from eunoe_stores.blobs.port import BlobKey

KEY = BlobKey(UUID(int=1), 1, "source-0")


def files_in(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


async def one_chunk() -> AsyncIterator[bytes]:
    yield b"x" * 10


@pytest.mark.parametrize(("code", "error"), [(errno.ENOSPC, StorageFull), (errno.EDQUOT, StorageFull), (errno.EIO, StoreUnavailable)])
async def test_a_full_disk_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    def refuse(_file: object) -> None:
        raise OSError(code, "no")

    store = FolderBlobStore(tmp_path)
    monkeypatch.setattr(staging, "sync_file", refuse)
    monkeypatch.setattr("eunoe_stores.blobs.folder.sync_file", refuse)
    with pytest.raises(error):
        await store.stage("t", "u", one_chunk(), limit=10)
    with pytest.raises(error):
        await store.put("t", KEY, b"x")
    assert files_in(tmp_path) == []


async def test_files_are_private_and_lie_where_the_design_says(tmp_path: Path) -> None:
    store = FolderBlobStore(tmp_path / "blobs")
    await store.put("t", KEY, b"x")
    path = tmp_path / "blobs" / "t" / str(KEY.document) / "1" / "source-0"
    assert path.read_bytes() == b"x"
    assert path.parent.stat().st_mode & 0o077 == 0


async def test_a_half_written_upload_of_a_killed_process_is_swept(tmp_path: Path) -> None:
    store = FolderBlobStore(tmp_path)
    (tmp_path / "t" / "staging").mkdir(parents=True)
    (tmp_path / "t" / "staging" / f"u-1{staging.PARTIAL}").write_bytes(b"half")
    assert await store.tenants() == ["t"]
    assert await store.discard_stale(older_than=datetime.now(UTC) + timedelta(seconds=5)) == 1
    assert await store.tenants() == []
