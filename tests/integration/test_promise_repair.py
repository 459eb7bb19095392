"""The doctor removes what belongs to nothing, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_contracts.stages import DocumentStatus, Stage
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_standalone import repair
from eunoe_standalone.audit import audit, remove_orphans
from eunoe_standalone.testing_pipeline import UNREADABLE, Call, faulty, pipeline, until
from eunoe_stores.blobs.port import BlobKey

COLOUR = "My favourite colour is vermilion. The lake was cold that year."


async def test_an_upload_that_was_never_accepted_goes_without_the_bytes_that_a_replay_needs(tmp_path: Path) -> None:
    async with pipeline(tmp_path) as running:
        document = await running.post(f"{UNREADABLE} scan")
        row = await running.ended(document, DocumentStatus.FAILED)
        blobs = running.stores.blobs
        # What a crash between the two steps of acceptance leaves: the blob of a generation that the catalogue does not know.
        await blobs.put(DEFAULT_TENANT, BlobKey(document, row.generation + 1, "source-0"), b"again")
        found = await audit(running.stores)
        assert len(found.orphans) == 1
        assert await remove_orphans(running.stores, found.orphans) == 1
        assert (await audit(running.stores)).orphans == []
        assert list(await blobs.documents(DEFAULT_TENANT)) == [(document, row.generation)]


async def test_rows_that_the_index_lost_before_they_were_read_back_are_written_again(tmp_path: Path) -> None:
    lost = 0

    async def ledger(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal lost
        result = await call(*args, **named)
        if name == "finish" and args[1].stage is Stage.EMBED and not lost:
            # As a loss of power does: the index is synced to the disk when it is read back, not with each row.
            lost = await running.stores.vectors.delete_document(args[0], args[1].document, through_generation=1)
        return result

    async with pipeline(tmp_path, wrap=faulty(catalogue=ledger), sweep_after_s=3600.0) as running:
        document = await running.post(COLOUR)
        await running.ended(document, within_s=5)
        assert lost
        assert str(document) in await running.hits("lake cold")


async def test_a_rebuilt_index_has_the_documents_that_were_in_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_end(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "set_end":
            raise StoreUnavailable
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(catalogue=no_end), drain_s=0.0) as running:
        document = await running.post(COLOUR)

        async def all_written() -> bool:
            row = await running.row(document)
            return row is not None and len(row.stages) == len(Stage) and all(each.state == "finished" for each in row.stages.values())

        await until(all_written)
    monkeypatch.setenv("EUNOE_MODELS__PROFILE", "none")
    await repair.rebuild_index(tmp_path, tell=lambda _: None)
    async with pipeline(tmp_path) as running:
        await running.ended(document, within_s=5)
        assert (await running.row(document)).stages[Stage.EMBED].attempts == 1
