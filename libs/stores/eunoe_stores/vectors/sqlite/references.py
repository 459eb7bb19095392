"""Row references from a view."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from eunoe_stores.vectors.port import RowRef
from eunoe_stores.vectors.sqlite.columns import KINDS, View
from eunoe_stores.vectors.sqlite.ids import uuid_of


def reference(view: View, slot: int) -> RowRef:
    """What fusion needs to know of one row."""
    columns = view.columns
    return RowRef(
        uuid_of(view.keys[slot]),
        uuid_of(view.publics[slot]),
        uuid_of(view.documents.values[columns["document"][slot]]),
        int(columns["generation"][slot]),
        view.containers.values[columns["container"][slot]],
        KINDS[columns["kind"][slot]],
        uuid_of(view.parents.values[columns["parent"][slot]]),
        int(columns["position"][slot]),
    )


def rows_of_parent(view: View, parent: UUID) -> list[RowRef]:
    """Live rows by position, then generation, then key."""
    code = view.parents.known(parent.bytes)
    if code is None:
        return []
    columns = view.columns
    slots = np.flatnonzero((columns["parent"] == code) & columns["alive"])
    order = np.lexsort((columns["key"][slots], columns["generation"][slots], columns["position"][slots]))
    return [reference(view, slot) for slot in slots[order].tolist()]


def keys_of(view: View, public_ids: Sequence[UUID]) -> dict[UUID, tuple[UUID, ...]]:
    """Row keys by public id, oldest generation first."""
    wanted = {each.bytes for each in public_ids}
    halves = np.array([int.from_bytes(each[:8]) for each in wanted], dtype=np.uint64)
    slots = np.flatnonzero(np.isin(view.columns["public"], halves) & view.columns["alive"])
    slots = slots[np.argsort(view.columns["generation"][slots], kind="stable")]
    found: dict[UUID, tuple[UUID, ...]] = {}
    for slot in slots.tolist():
        if view.publics[slot] in wanted:
            public = uuid_of(view.publics[slot])
            found[public] = (*found.get(public, ()), uuid_of(view.keys[slot]))
    return found
