"""The Catalogue port: the system of record. Parts first, the whole at the end; a service asks only for the parts it needs.

Writes are compare-and-set and idempotent; time comes in as `now`, so that the adapter has no clock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from eunoe_contracts.capabilities import CapabilityReport
from eunoe_contracts.content import Entity, Kind, Memory, Metadata, Unit
from eunoe_contracts.stages import ClaimOutcome, Stage

from eunoe_stores.catalogue.rows import (
    Accepted,
    AcceptPlan,
    ContainerRow,
    DeadLetterQuery,
    DeadLetterRow,
    DocumentQuery,
    DocumentRow,
    EarlierTurn,
    Edit,
    End,
    Erasure,
    MemoryRow,
    NewDocument,
    OpenDocument,
    OrphanedMemory,
    Page,
    RemovedMemory,
    Reopened,
    TokenRow,
)


class DocumentCatalogue(Protocol):
    """Documents: acceptance, status, lists."""

    async def plan_accept(self, tenant: str, new: NewDocument, *, reprocess: bool = False) -> AcceptPlan:
        """What `accept` would do now. Raises `IdempotencyConflict` when the id exists with another fingerprint, `DocumentErased`
        when it was erased and the new one is `unless_erased`; `accept` raises them too.
        """
        ...

    async def accept(self, tenant: str, new: NewDocument, *, plan: AcceptPlan, queue_limit: int, now: datetime) -> Accepted:
        """Commit the plan durably (FULL sync). Raises `StaleGeneration` when the state moved since the plan (plan again),
        `QueueFull` when that many documents are open. A deduplicated post merges tags and metadata. Accepting a generation
        fences all older ones and starts its ledger.
        """
        ...

    async def mark_published(self, tenant: str, document: UUID, generation: int) -> None:
        """The first event is on the log."""
        ...

    async def document(self, tenant: str, document: UUID) -> DocumentRow | None:
        """The current generation with its ledger; None when unknown or erased."""
        ...

    async def documents_by_id(self, tenant: str, documents: Sequence[UUID]) -> Mapping[UUID, DocumentRow]:
        """Those that exist and are not erased; without ledgers."""
        ...

    async def documents_by_title(self, tenant: str, container: str, titles: Sequence[str]) -> Mapping[str, UUID]:
        """Open or done documents of the container whose title (name without extension, or metadata title; normalised) matches."""
        ...

    async def list_documents(self, tenant: str, query: DocumentQuery, page: Page) -> tuple[Sequence[DocumentRow], int]:
        """Newest first, and the true total; with `query.after` in order of acceptance."""
        ...

    async def older_versions(self, tenant: str, document: UUID) -> Sequence[UUID]:
        """Documents of the same container and custom_id that were accepted before this one and are not erased."""
        ...

    async def is_superseded(self, tenant: str, document: UUID) -> bool:
        """True when another document of the same container and custom_id was accepted after this one and is not erased."""
        ...

    async def open_documents(self, *, not_updated_since: datetime, limit: int) -> Sequence[OpenDocument]:
        """Documents of all tenants without an end and without progress since then, oldest first (for the sweeper)."""
        ...

    async def count_open(self) -> int:
        """Open documents of all tenants."""
        ...

    async def set_end(self, tenant: str, document: UUID, generation: int, end: End, *, now: datetime, revision: int | None = None) -> bool:
        """Set the end when the document is open in that generation; an upgrade of `degraded` on a done one is allowed too.
        With a `revision` only while the row still has it, so that an end is never set on what was reopened meanwhile.
        True when this call changed it. A failed or cancelled end fences the generation.
        """
        ...

    async def add_warnings(self, tenant: str, document: UUID, generation: int, warnings: Sequence[str]) -> None:
        """Append those not there yet."""
        ...

    def watch(self, tenant: str, document: UUID, *, since: int) -> AsyncIterator[DocumentRow]:
        """The document whenever its revision is above `since`, until it has ended; raises `DocumentNotFound` when it is erased."""
        ...


class LedgerCatalogue(Protocol):
    """Stage ledger; `eunoe_stream.ledger.StageLedger` is its structural twin for the runner (same methods)."""

    async def may_write(self, tenant: str, document: UUID, generation: int) -> bool:
        """The fence: false when a newer generation was accepted, or the document is erased, cancelled, failed or unknown."""
        ...

    async def release_claims(self, *, now: datetime) -> int:
        """At the start of a single-process server: running rows go back to waiting; returns how many."""
        ...

    async def stage_outcomes(self, tenant: str, document: UUID, generation: int) -> Mapping[Stage, ClaimOutcome]:
        """Ended stages only (finished or exhausted)."""
        ...

    async def repeat_projections(self, tenant: str, document: UUID, generation: int, *, limit: int, now: datetime) -> bool:
        """Put the finished stages that write projections back to waiting, since their rows are not there. False, and nothing
        changed, when the document is not open in that generation or one of them ran `limit` times already.
        """
        ...


class UnitCatalogue(Protocol):
    """Passages, sections and roots."""

    async def put_units(self, tenant: str, document: UUID, generation: int, units: Sequence[Unit], *, title: str, now: datetime) -> bool:
        """Replace the generation's units and store the document's title; false (and nothing written) when fenced."""
        ...

    async def units(self, tenant: str, document: UUID, generation: int, *, kinds: frozenset[Kind] = frozenset()) -> Sequence[Unit]:
        """In order of ordinal, roots first, then sections, then passages."""
        ...

    async def units_by_id(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, Unit]:
        """By public id; the newest readable generation of each, erased documents left out."""
        ...

    async def latest_generation_with_units(self, tenant: str, document: UUID) -> int:
        """The generation readers should see: the current one once it has units, else the newest older one; 0 for none."""
        ...

    async def delete_units(self, tenant: str, document: UUID, *, through_generation: int) -> int:
        """Remove units of that and older generations; returns how many."""
        ...

    async def turn_before(self, tenant: str, container: str, session: str, *, before: int) -> EarlierTurn | None:
        """The nearest earlier turn (`metadata.position` < before) of a session that is readable or in work; None when there is none."""
        ...


class MemoryCatalogue(Protocol):
    """Extracted memories and entities."""

    async def put_memories(
        self, tenant: str, document: UUID, generation: int, memories: Sequence[Memory], *, now: datetime
    ) -> Sequence[MemoryRow]:
        """Insert or add a source; the document's sources of this generation become exactly these. Empty when fenced.

        Without memories the stages that would work on them are finished by the same call.
        """
        ...

    async def memories(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, MemoryRow]:
        """Those that exist and have a source."""
        ...

    async def memories_of(self, tenant: str, document: UUID, generation: int) -> Sequence[tuple[MemoryRow, UUID, tuple[Entity, ...]]]:
        """Memories that the generation is a source of, with the passage each rests on and its entities."""
        ...

    async def list_memories(
        self, tenant: str, *, container: str, document: UUID | None, kinds: frozenset[Kind], page: Page, edited: bool = False
    ) -> tuple[Sequence[MemoryRow], int]:
        """Newest first, and the true total. With `edited` only those that a caller changed."""
        ...

    async def removed_memories(self, tenant: str, page: Page) -> tuple[Sequence[RemovedMemory], int]:
        """Memories that a caller removed and that no document brought back since, oldest removal first, and the true total."""
        ...

    async def update_memory(
        self,
        tenant: str,
        memory: UUID,
        *,
        metadata: Metadata | None = None,
        tags: tuple[str, ...] | None = None,
        is_latest: bool | None = None,
        confidence: float | None = None,
        superseded_by: UUID | None = None,
        edited: bool = False,
        now: datetime,
    ) -> MemoryRow:
        """Change what is given; `edited` remembers it as a caller's change. Raises `MemoryNotFound`."""
        ...

    async def delete_memory(self, tenant: str, memory: UUID, *, now: datetime) -> OrphanedMemory | None:
        """Remove a memory and its sources for a caller; None when it was not there."""
        ...

    async def bury_memories(self, tenant: str, document: UUID, *, through_generation: int) -> Sequence[OrphanedMemory]:
        """Blank the memories that only the document (that and older generations) holds, and name the projection rows that are to
        go. To be called before `drop_sources`: until then it names them again, so that a crash while they are removed loses none.
        """
        ...

    async def drop_sources(self, tenant: str, document: UUID, *, through_generation: int) -> Sequence[OrphanedMemory]:
        """Remove the document as a source (that and older generations); memories left without sources go and are returned."""
        ...


class ContainerCatalogue(Protocol):
    """Containers."""

    async def tenants(self) -> Sequence[str]:
        """Tenants that ever had a document, for audits, by name."""
        ...

    async def containers(self, tenant: str, *, prefix: str, page: Page) -> tuple[Sequence[ContainerRow], int]:
        """By name, and the true total. Counts are of live rows."""
        ...

    async def documents_in(self, tenant: str, container: str) -> Sequence[UUID]:
        """All documents of exactly that container that are not erased."""
        ...

    async def stats(self, tenant: str) -> Mapping[str, Mapping[str, int]]:
        """`documents{total, <status>...}`, `memories{total, embedded, <kind>...}`, `containers{total}`, `dead_letters{total}`."""
        ...


class ErasureCatalogue(Protocol):
    """The erasure fence and its proof."""

    async def erase(self, tenant: str, document: UUID, *, now: datetime) -> Erasure | None:
        """Fence (document, generation <= current), blank every content field of the row, the memories that only it held and its
        dead letters' messages; None when unknown or already erased.
        """
        ...

    async def cancel(self, tenant: str, document: UUID, *, now: datetime) -> DocumentRow | None:
        """End an open document as cancelled; None when it is not open. `open_documents` names it until `close_cancelled`."""
        ...

    async def close_cancelled(self, tenant: str, document: UUID, generation: int) -> None:
        """The cancelled generation was taken out of the projections; its dead letters go, too. May be called twice."""
        ...

    async def pending_erasures(self, *, requested_before: datetime, limit: int) -> Sequence[Erasure]:
        """Erasures of all tenants without a proof."""
        ...

    async def purge(self) -> bool:
        """Make what was deleted or blanked unrecoverable from the files. False when somebody was in the way; then try again
        later. May be called twice.
        """
        ...

    async def bury_unaccepted(self, tenant: str, document: UUID, *, generation: int, now: datetime) -> bool:
        """Forbid that generation and older ones to a document that has no row or is erased, so that bytes which lie there can be
        removed: an acceptance under way, in whatever process, finds its plan out of date. False when the document has a row; then
        nothing changed. May be called twice.
        """
        ...

    async def prove_erasure(self, tenant: str, document: UUID, generation: int, *, now: datetime) -> None:
        """Every sink was seen empty after the longest deadline."""
        ...

    async def drop_through(self, tenant: str, document: UUID, *, through_generation: int) -> None:
        """Remove ledger rows of those generations, and their dead letters once a newer one is done (content rows go by
        `delete_units` and `drop_sources`).
        """
        ...


class DeadLetterCatalogue(Protocol):
    """Dead letters and replay."""

    async def dead_letters(self, tenant: str | None, query: DeadLetterQuery, page: Page) -> tuple[Sequence[DeadLetterRow], int]:
        """Newest first; tenant None is the local operator's view of all."""
        ...

    async def reopen(self, tenant: str, dead_letter: UUID, *, now: datetime) -> Reopened | None:
        """Put the exhausted stage back to waiting (of a failed document all stages that write projections, since its rows were
        removed), the document back to open, and mark the letter replayed. None when it was replayed already. Raises
        `DeadLetterNotFound`, `StaleGeneration` when a newer generation exists or it was erased.
        """
        ...


class TokenCatalogue(Protocol):
    """API tokens."""

    async def add_token(self, token: TokenRow, *, secret_hash: str) -> None:
        """Store a new token."""
        ...

    async def token_by_hash(self, secret_hash: str) -> TokenRow | None:
        """The token with that hash, also expired or revoked ones."""
        ...

    async def tokens(self, tenant: str | None) -> Sequence[TokenRow]:
        """Newest first."""
        ...

    async def revoke_token(self, tenant: str | None, token_id: str, *, now: datetime) -> TokenRow:
        """Raises `TokenNotFound`. Revoking twice keeps the first time."""
        ...

    async def touch_token(self, token_id: str, *, now: datetime) -> None:
        """Remember the last use (may be coarse)."""
        ...


class CapabilityCatalogue(Protocol):
    """What the processes of each service can do."""

    async def report_capabilities(self, service: str, instance: str, names: frozenset[str], *, now: datetime) -> None:
        """Store what a process can do, in place of what it said before. Reports of the service that are a day older are forgotten."""
        ...

    async def capabilities(self, service: str) -> Sequence[CapabilityReport]:
        """The last report of each process, newest first."""
        ...


class EditCatalogue(Protocol):
    """Edits whose event is not on the log yet; `accept`, `update_memory` and `delete_memory` remember theirs."""

    async def edit_published(self, edit: Edit) -> None:
        """Forget that edit, unless the memory was edited again since. May be called twice."""
        ...

    async def unpublished_edits(self, *, before: datetime, limit: int) -> Sequence[Edit]:
        """Edits of all tenants from before then, oldest first."""
        ...


class Catalogue(
    DocumentCatalogue,
    LedgerCatalogue,
    UnitCatalogue,
    MemoryCatalogue,
    ContainerCatalogue,
    ErasureCatalogue,
    DeadLetterCatalogue,
    TokenCatalogue,
    CapabilityCatalogue,
    EditCatalogue,
    Protocol,
):
    """All of it, plus process-wide notes."""

    async def put_note(self, name: str, value: str) -> None:
        """Store a small named value (schema facts)."""
        ...

    async def note(self, name: str) -> str | None:
        """Read it."""
        ...

    async def take_lease(self, name: str, *, owner: str, lease_s: float, now: datetime) -> bool:
        """True when `owner` has it from now on for that long: it was free, out of date, or the owner's already. Clocks differ, so
        two may have it for a moment; it says who does a work that may be done twice.
        """
        ...

    async def close(self) -> None:
        """Release resources. May be called twice."""
        ...
