"""The doctor removes what belongs to nothing, and nothing else."""

from __future__ import annotations

from pathlib import Path

from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_standalone.audit import audit, remove_orphans
from eunoe_standalone.testing_pipeline import UNREADABLE, pipeline
from eunoe_stores.blobs.port import BlobKey


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
