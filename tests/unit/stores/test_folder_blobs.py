from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from eunoe_contracts.errors import BlobNotFound, StorageFull, StoreUnavailable
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
    def refuse(*_: object) -> None:
        raise OSError(code, "no")

    store = FolderBlobStore(tmp_path)
    await store.stage("t", "staged", one_chunk(), limit=10)
    monkeypatch.setattr(staging.Upload, "write", refuse)
    with pytest.raises(error):
        await store.stage("t", "u", one_chunk(), limit=10)
    monkeypatch.setattr("eunoe_stores.blobs.promotion.sync_bytes", refuse)
    with pytest.raises(error):
        await store.put("t", KEY, b"x")
    with pytest.raises(error):
        await store.promote("t", "staged", KEY)
    await store.discard("t", "staged")
    assert files_in(tmp_path) == []


async def test_uploads_promoted_together_share_the_syncs_and_fail_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("eunoe_stores.blobs.promotion.sync_directory", synced.append)
    store = FolderBlobStore(tmp_path)
    keys = [BlobKey(uuid4(), 1, "source-0") for _ in range(20)]
    for number in range(len(keys)):
        if number != 7:
            await store.stage("t", f"u{number}", one_chunk(), limit=10)
    results = await asyncio.gather(*(store.promote("t", f"u{number}", key) for number, key in enumerate(keys)), return_exceptions=True)
    assert [number for number, result in enumerate(results) if result is not None] == [7]
    assert isinstance(results[7], BlobNotFound)
    assert [await store.read("t", key) for number, key in enumerate(keys) if number != 7] == [b"x" * 10] * 19
    assert synced.count(tmp_path / "t") <= 2


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
