"""Row references from a view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.port import RowRef
from eunoe_stores.vectors.sqlite.columns import KINDS, NOT_SAID, View
from eunoe_stores.vectors.sqlite.ids import new_uuid, uuid_of

KEPT = 8_000
"""References kept per tenant, some 400 bytes each: a search meets the same rows in each of its steps, and so does the next."""


def references(view: View, slots: NDArray[Any]) -> list[RowRef]:
    """What fusion needs to know of these rows: mostly the same objects each time, so that dictionaries compare them by identity."""
    wanted = slots.tolist()
    found = {slot: view.references.get(slot) for slot in wanted}
    new = [slot for slot, row in found.items() if row is None]
    if new:
        # Read into a mapping of our own first: another thread may empty the kept ones at any time.
        read = dict(zip(new, _read(view, np.array(new)), strict=True))
        found.update(read)
        if len(view.references) + len(new) > KEPT:
            view.references.clear()
        view.references.update(read)
    return [row for row in map(found.get, wanted) if row is not None]


def rows_of_parent(view: View, parent: UUID) -> list[RowRef]:
    """Live rows by position, then generation, then key."""
    code = view.parents.number(parent.bytes)
    if code is None:
        return []
    columns = view.columns
    slots = np.flatnonzero((columns["parent"] == code) & columns["alive"])
    order = np.lexsort((view.keys.first_halves[slots], columns["generation"][slots], columns["position"][slots]))
    return references(view, slots[order])


def keys_of(view: View, public_ids: Sequence[UUID]) -> dict[UUID, tuple[UUID, ...]]:
    """Row keys by public id, oldest generation first."""
    wanted = {each.bytes for each in public_ids}
    halves = np.array([int.from_bytes(each[:8], "big") for each in wanted], dtype=np.uint64)
    slots = np.flatnonzero(np.isin(view.publics.first_halves[: view.size], halves) & view.columns["alive"])
    slots = slots[np.argsort(view.columns["generation"][slots], kind="stable")]
    found: dict[UUID, tuple[UUID, ...]] = {}
    for row in references(view, slots):
        if row.public_id.bytes in wanted:
            found[row.public_id] = (*found.get(row.public_id, ()), row.key)
    return found


def _read(view: View, slots: NDArray[np.intp]) -> Iterator[RowRef]:
    columns = view.columns
    turns = [None if code == NOT_SAID else bool(code) for code in columns["turn"][slots].tolist()]
    return map(
        RowRef,
        map(new_uuid, view.keys.ids(slots)),
        map(new_uuid, view.publics.ids(slots)),
        map(uuid_of, view.documents.ids(columns["document"][slots])),
        columns["generation"][slots].tolist(),
        [view.containers.values[code] for code in columns["container"][slots].tolist()],
        [KINDS[code] for code in columns["kind"][slots].tolist()],
        map(uuid_of, view.parents.ids(columns["parent"][slots])),
        columns["position"][slots].tolist(),
        turns,
    )
