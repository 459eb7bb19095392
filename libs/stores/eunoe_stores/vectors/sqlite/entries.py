"""A row as it is written: analysed and encoded, outside of the writer thread."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from eunoe_contracts.errors import InternalError

from eunoe_stores.vectors.analysis import seconds, tokens_of
from eunoe_stores.vectors.port import IndexRow
from eunoe_stores.vectors.sqlite.schema import BODY, CONTEXT, term_prefix

Record: TypeAlias = tuple[int, bytes, bytes, bytes, bytes, str, str, int, int, str, float | None, int, int, int, int | None]
"""id, key, public, document, parent, container, kind, generation, position, profile, time, latest, body and context length, turn."""

RECORD_COLUMNS = (
    "id, key, public, document, parent, container, kind, generation, position, profile, time, latest, body_length, context_length, turn"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """`terms` are the frequencies by field; `tokens` the text that FTS5 indexes; `vector` little-endian float32."""

    key: bytes
    columns: tuple[bytes, bytes, bytes, str, str, int, int, str, float | None, int, int, int, int | None]
    terms: Mapping[str, Mapping[str, int]]
    tokens: str
    vector: bytes | None

    def record(self, number: int) -> Record:
        """The row under an id."""
        return (number, self.key, *self.columns)


def entry(row: IndexRow, tenant: int) -> Entry:
    """Analyse and encode. Raises `InternalError` for a vector that holds NaN or infinity."""
    body, context = tokens_of(row)
    terms = {BODY: Counter(body), CONTEXT: Counter(context)}
    tokens = " ".join(
        f"{prefix}{term}~{frequency}"
        for prefix, counts in ((term_prefix(field, tenant), counts) for field, counts in terms.items())
        for term, frequency in counts.items()
    )
    when = row.event_time or row.created_at
    return Entry(
        row.key.bytes,
        (
            row.public_id.bytes,
            row.document.bytes,
            row.parent.bytes,
            row.container,
            row.kind.value,
            row.generation,
            row.position,
            profile(row),
            None if when is None else seconds(when),
            int(row.is_latest),
            len(body),
            len(context),
            None if row.is_turn is None else int(row.is_turn),
        ),
        terms,
        tokens,
        None if row.vector is None else _encoded(row.vector),
    )


def profile(row: IndexRow) -> str:
    """Tags and attributes as one canonical text: rows of a document mostly share it."""
    return json.dumps([sorted(set(row.tags)), dict(row.attributes)], ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _encoded(vector: np.typing.NDArray[np.float32]) -> bytes:
    plain = np.ascontiguousarray(vector, dtype="<f4")
    if not np.isfinite(plain).all():
        raise InternalError("the embedding model gave a vector with a value that is not finite")
    return plain.tobytes()
