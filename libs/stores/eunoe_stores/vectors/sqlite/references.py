"""Row references from a view."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from eunoe_stores.vectors.port import RowRef
from eunoe_stores.vectors.sqlite.columns import KINDS, NOT_SAID, View
from eunoe_stores.vectors.sqlite.id_columns import ABSENT
from eunoe_stores.vectors.sqlite.ids import uuid_of

KEPT = 20_000
"""References kept per tenant, some 400 bytes each: a search meets the same rows in each of its steps, and so does the next."""


def reference(view: View, slot: int) -> RowRef:
    """What fusion needs to know of one row: mostly the same object each time, so that dictionaries compare it by identity."""
    known = view.references.get(slot)
    if known is None:
        if len(view.references) >= KEPT:
            view.references.clear()
        known = view.references[slot] = _read(view, slot)
    return known


def references(view: View) -> list[RowRef]:
    """Those of the rows that the view was asked for and has, in the order of the keys, each once."""
    return [reference(view, slot) for slot in dict.fromkeys(view.slots.tolist()) if slot != ABSENT]


def rows_of_parent(view: View, parent: UUID) -> list[RowRef]:
    """Live rows by position, then generation, then key."""
    code = view.parents.number(parent.bytes)
    if code is None:
        return []
    columns = view.columns
    slots = np.flatnonzero((columns["parent"] == code) & columns["alive"])
    order = np.lexsort((view.keys.first_halves[slots], columns["generation"][slots], columns["position"][slots]))
    return [reference(view, slot) for slot in slots[order].tolist()]


def keys_of(view: View, public_ids: Sequence[UUID]) -> dict[UUID, tuple[UUID, ...]]:
    """Row keys by public id, oldest generation first."""
    wanted = {each.bytes for each in public_ids}
    halves = np.array([int.from_bytes(each[:8], "big") for each in wanted], dtype=np.uint64)
    slots = np.flatnonzero(np.isin(view.publics.first_halves[: view.size], halves) & view.columns["alive"])
    slots = slots[np.argsort(view.columns["generation"][slots], kind="stable")]
    found: dict[UUID, tuple[UUID, ...]] = {}
    for slot in slots.tolist():
        row = reference(view, slot)
        if row.public_id.bytes in wanted:
            found[row.public_id] = (*found.get(row.public_id, ()), row.key)
    return found


def _read(view: View, slot: int) -> RowRef:
    columns = view.columns
    turn = int(columns["turn"][slot])
    return RowRef(
        uuid_of(view.keys[slot]),
        uuid_of(view.publics[slot]),
        uuid_of(view.documents[columns["document"][slot]]),
        int(columns["generation"][slot]),
        view.containers.values[columns["container"][slot]],
        KINDS[columns["kind"][slot]],
        uuid_of(view.parents[columns["parent"][slot]]),
        int(columns["position"][slot]),
        None if turn == NOT_SAID else bool(turn),
    )
