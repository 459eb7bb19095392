"""Vectors of another model for rows that are in the index already. Their texts are in the catalogue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from eunoe_contracts.content import STRUCTURE_KINDS
from eunoe_contracts.errors import ModelUnavailable, NotEmbeddable
from eunoe_models.embedding.port import EmbeddingModel, Vectors
from eunoe_stores.catalogue.port import MemoryCatalogue, UnitCatalogue
from eunoe_stores.vectors.port import RowRef

from eunoe_embedder.indexing import text_of


class TextCatalogue(UnitCatalogue, MemoryCatalogue, Protocol):
    """Where the texts are."""


async def vectors_of(tenant: str, rows: Sequence[RowRef], *, catalogue: TextCatalogue, model: EmbeddingModel) -> Mapping[UUID, Vectors]:
    """By row key, of the same texts that `indexing` embeds. A row whose text is gone has none.

    Raises `ModelUnavailable`, `StoreUnavailable`, and `NotEmbeddable` that names the document: without its row it could not be found.
    """
    structure = [row for row in rows if row.kind in STRUCTURE_KINDS]
    texts = await _texts_of_units(tenant, structure, catalogue)
    others = [row for row in rows if row.kind not in STRUCTURE_KINDS]
    memories = await catalogue.memories(tenant, [row.public_id for row in others]) if others else {}
    texts |= {row.key: memories[row.public_id].text for row in others if row.public_id in memories}
    keys = list(texts)
    if not keys:
        return {}
    try:
        return dict(zip(keys, await model.embed([texts[key] for key in keys]), strict=True))
    except NotEmbeddable as error:
        documents = {row.key: row.document for row in rows}
        for key in keys:
            await _tried(texts[key], documents[key], model)
        raise ModelUnavailable from error  # each alone works: the model does not always do the same


async def _tried(text: str, document: UUID, model: EmbeddingModel) -> None:
    try:
        await model.embed([text])
    except NotEmbeddable as error:
        raise NotEmbeddable(f"the model gives no vector for a text of document {document}: erase it, or choose another model") from error


async def _texts_of_units(tenant: str, rows: Sequence[RowRef], catalogue: UnitCatalogue) -> dict[UUID, str]:
    newest = await catalogue.units_by_id(tenant, [row.public_id for row in rows]) if rows else {}
    found: dict[UUID, str] = {}
    older: dict[tuple[UUID, int], list[RowRef]] = defaultdict(list)
    for row in rows:
        unit = newest.get(row.public_id)
        if unit is not None and unit.generation == row.generation:
            found[row.key] = text_of(unit)
        else:  # of a generation that another one is about to replace
            older[row.document, row.generation].append(row)
    for (document, generation), those in older.items():
        units = {unit.id: unit for unit in await catalogue.units(tenant, document, generation)}
        found |= {row.key: text_of(units[row.public_id]) for row in those if row.public_id in units}
    return found
