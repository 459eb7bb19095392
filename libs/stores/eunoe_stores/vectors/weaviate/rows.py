"""A row as Weaviate keeps it, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import InternalError
from eunoe_contracts.tenancy import ancestors
from numpy.typing import NDArray
from weaviate.classes.data import DataObject

from eunoe_stores.vectors.analysis import seconds, tokens_of
from eunoe_stores.vectors.port import IndexRow, RowRef
from eunoe_stores.vectors.weaviate.names import attribute_token, escaped, tag_token, unescaped
from eunoe_stores.vectors.weaviate.schema import BODY, CONTEXT, VECTOR, length_of

REFERENCE = ("public", "document", "generation", "container", "kind", "parent", "position", "turn")
"""Properties that make a `RowRef`."""
_OVERHEAD = 1_000
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A row to be written."""

    key: UUID
    properties: Mapping[str, Any]
    vector: NDArray[np.float32] | None

    def size(self) -> int:
        """About how many bytes it takes in a batch."""
        texts = len(self.properties[BODY]) + len(self.properties[CONTEXT])
        return _OVERHEAD + texts + (0 if self.vector is None else _FLOAT_BYTES * len(self.vector))

    def object(self) -> DataObject[dict[str, Any], None]:
        """What the client takes."""
        vector = {} if self.vector is None else {VECTOR: self.vector.tolist()}
        return DataObject(properties=dict(self.properties), uuid=self.key, vector=vector)


def entry(row: IndexRow) -> Entry:
    """Analyse and encode. Raises `InternalError` for a vector that holds NaN or infinity, which Weaviate would take."""
    if row.vector is not None and not np.isfinite(row.vector).all():
        raise InternalError("the embedding model gave a vector with a value that is not finite")
    body, context = tokens_of(row)
    when = row.event_time or row.created_at
    found: dict[str, Any] = {
        "public": row.public_id.hex,
        "document": row.document.hex,
        "parent": row.parent.hex,
        "container": escaped(row.container),
        "ancestors": [escaped(each) for each in ancestors(row.container)],
        "kind": row.kind.value,
        "tags": sorted({tag_token(tag) for tag in row.tags}),
        "attributes": sorted(attribute_token(name, value) for name, value in row.attributes.items()),
        "generation": row.generation,
        "time": None if when is None else seconds(when),
        "latest": row.is_latest,
        "has_vector": row.vector is not None,
        length_of(BODY): len(body),
        length_of(CONTEXT): len(context),
        "position": row.position,
        "turn": row.is_turn,
        "copied": False,
        BODY: " ".join(body),
        CONTEXT: " ".join(context),
    }
    # What is not said is left out: an empty list is a type error to the client, and None a value that cannot be filtered.
    there = {name: value for name, value in found.items() if value is not None and value != []}
    digest = hashlib.blake2b(json.dumps(there, sort_keys=True).encode(), digest_size=16).hexdigest()
    vector = None if row.vector is None else np.ascontiguousarray(row.vector, dtype=np.float32)
    return Entry(row.key, {**there, "digest": digest}, vector)


def reference(key: UUID, properties: Mapping[str, Any]) -> RowRef:
    """The reference of a row that was read."""
    turn = properties.get("turn")
    return RowRef(
        key,
        UUID(properties["public"]),
        UUID(properties["document"]),
        int(properties["generation"]),
        unescaped(properties["container"]),
        Kind(properties["kind"]),
        UUID(properties["parent"]),
        int(properties["position"]),
        None if turn is None else bool(turn),
    )
