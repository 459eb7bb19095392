"""Audit and repair of a data directory that no server uses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eunoe.v1 import events_pb2
from eunoe_contracts import topics
from eunoe_contracts.events import document_event
from eunoe_contracts.stages import DocumentStatus
from eunoe_embedder.service import embed, embed_memories
from eunoe_embedder.wiring import bind
from eunoe_models.artifacts import Loaded, load_embedder, missing_model
from eunoe_models.config import ModelSettings
from eunoe_telemetry.clock import RandomIds, SystemClock

from eunoe_standalone.audit import STORES, Findings, audit, every_document, remove_orphans
from eunoe_standalone.bare_rows import REBUILD
from eunoe_standalone.data_directory import INDEX_NAME, DataDirectory, open_data_directory
from eunoe_standalone.local_checks import Check
from eunoe_standalone.parts import load_parts

Tell = Callable[[str], None]
TELL_EVERY = 500


async def audit_offline(data_dir: Path, *, fix: bool, rebuild: bool, tell: Tell) -> list[Check]:
    """Check, and repair what was asked for. Raises `DataDirectoryLocked` when a server uses the directory."""
    settings = load_parts()
    if rebuild:
        await rebuild_index(data_dir, tell=tell)
    async with open_data_directory(data_dir, clock=SystemClock(), ids=RandomIds()) as stores:
        found = await audit(stores)
        if fix and found.orphans:
            tell(f"removed {await remove_orphans(stores, found.orphans)} remains that belong to no document")
            found = await audit(stores)
    return [*checks_of(found), vectors_check(found, settings.models)]


def vectors_check(found: Findings, models: ModelSettings) -> Check:
    """Whether all rows have a vector. Without a model it is no fault that they have none."""
    name = "audit: embeddings"
    if not found.bare:
        return Check(name, ok=True, reason=f"all {found.rows} rows have a vector")
    reason = f"{found.bare} of {found.rows} rows have no vector, since they were indexed without a model"
    if models.profile == "none":
        return Check(name, ok=True, reason=f"{reason}; with one, run {REBUILD}")
    missing = missing_model(models)
    return Check(name, ok=False, reason=f"{reason}: {missing}, then {REBUILD}" if missing else f"{reason}: run {REBUILD}")


def checks_of(found: Findings) -> list[Check]:
    """The findings as checks: one per store, and one for the catalogue."""
    checks = []
    for store in STORES:
        orphans = sum(each.store == store for each in found.orphans)
        missing = sum(each.store == store for each in found.missing)
        advice = "; run `eunoe doctor --fix`" if orphans else ""
        advice += "; run `eunoe doctor --rebuild`" if missing and store == "vectors" else ""
        reason = f"{found.done - missing} of {found.done} done documents, {orphans} remains of none{advice}"
        checks.append(Check(f"audit: {store}", not orphans and not missing, reason))
    reason = f"{found.documents} documents, {found.open} in work, {len(found.miscounted)} whose counts differ"
    checks.append(Check("audit: catalogue", not found.miscounted, reason))
    return checks


async def rebuild_index(data_dir: Path, *, tell: Tell) -> None:
    """Make `index.db` again from the catalogue with the configured model; the old one is removed first."""
    settings = load_parts()
    async with open_data_directory(data_dir, clock=SystemClock(), ids=RandomIds()):
        pass  # takes the lock once: raises when a server is running
    remove_index(data_dir)
    loaded = load_embedder(settings.models)
    if loaded.model is None:
        tell(f"indexing without vectors: {loaded.reason}")
    try:
        async with open_data_directory(data_dir, clock=SystemClock(), ids=RandomIds()) as stores:
            await bind(stores.vectors, loaded.model)
            done = 0
            for tenant in await stores.catalogue.tenants():
                async for row in every_document(stores, tenant):
                    # Of documents in work too: a stage that has finished does not write again.
                    if row.status not in {DocumentStatus.FAILED, DocumentStatus.CANCELLED}:
                        await index_again(stores, loaded, tenant, str(row.id), row.generation)
                        done += 1
                        if done % TELL_EVERY == 0:
                            tell(f"{done} documents indexed again")
            await stores.vectors.flush()
            tell(f"{done} documents indexed again")
    finally:
        await loaded.close()


def remove_index(data_dir: Path) -> None:
    """Remove the index file with its journal; it holds nothing that the catalogue does not."""
    for path in data_dir.glob(f"{INDEX_NAME}*"):
        path.unlink()


async def index_again(stores: DataDirectory, loaded: Loaded, tenant: str, document: str, generation: int) -> None:
    """Run the embedder's own handlers for a document, with the events that they got the first time."""
    extracted = events_pb2.DocumentExtracted(tenant=tenant, document_id=document, generation=generation)
    event = document_event(topics.DOCUMENT_EXTRACTED, extracted)
    await embed(event, catalogue=stores.catalogue, vectors=stores.vectors, model=loaded.model)
    if event.document is not None:
        found = await stores.catalogue.memories_of(tenant, event.document, generation)
        proposed = events_pb2.MemoriesProposed(
            tenant=tenant, document_id=document, generation=generation, memory_ids=[str(memory.id) for memory, _, _ in found]
        )
        await embed_memories(
            document_event(topics.MEMORIES_PROPOSED, proposed), catalogue=stores.catalogue, vectors=stores.vectors, model=loaded.model
        )
