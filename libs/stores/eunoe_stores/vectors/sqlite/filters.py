"""`IndexFilter` as a mask over a view: array comparisons only, whatever the number of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eunoe_stores.vectors.analysis import seconds
from eunoe_stores.vectors.port import IndexFilter
from eunoe_stores.vectors.sqlite.columns import KIND_CODES, KINDS, View


def mask(view: View, where: IndexFilter) -> NDArray[np.bool_]:
    """True for live rows that satisfy every condition. Both time bounds are inclusive; rows without a time satisfy neither."""
    columns = view.columns
    chosen: NDArray[np.bool_] = columns["alive"].copy()
    if where.latest_only:
        chosen &= columns["latest"]
    if where.containers:
        chosen &= view.containers.matching(where.containers)[columns["container"]]
    if where.kinds:
        kinds = np.zeros(len(KINDS), dtype=np.bool_)
        kinds[[KIND_CODES[kind.value] for kind in where.kinds]] = True
        chosen &= kinds[columns["kind"]]
    if where.documents:
        chosen &= view.documents.chosen(each.bytes for each in where.documents)[columns["document"]]
    if where.tags_any or where.tags_all or where.attributes:
        chosen &= view.profiles.matching(where.tags_any, where.tags_all, where.attributes)[columns["profile"]]
    if where.since is not None:
        chosen &= columns["time"] >= seconds(where.since)
    if where.until is not None:
        chosen &= columns["time"] <= seconds(where.until)
    return chosen
