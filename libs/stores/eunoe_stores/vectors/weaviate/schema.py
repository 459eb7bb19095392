"""The collection of a generation: how it is made, and the check that refuses one that this program cannot use."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from eunoe_contracts.errors import ConfigurationError, SchemaTooNew
from weaviate.classes.config import Configure, DataType, Property, StopwordsPreset, Tokenization, VectorDistances
from weaviate.collections.classes.config import CollectionConfig

from eunoe_stores.analyser import ANALYSER_VERSION
from eunoe_stores.vectors.bm25 import K1, B
from eunoe_stores.vectors.weaviate.config import WeaviateSettings

SCHEMA_VERSION = 1
VECTOR = "v1"
BODY = "body"
CONTEXT = "context"


def length_of(name: str) -> str:
    """The property that holds how many tokens a field has."""
    return f"{name}_length"


@dataclass(frozen=True, slots=True)
class Label:
    """What a collection says of itself, in its description: who may read it, and whose vectors it holds."""

    schema: int = SCHEMA_VERSION
    analyser: str = ANALYSER_VERSION
    model: str | None = None
    dimensions: int | None = None
    source: int | None = None
    """The generation whose rows it takes over."""

    @classmethod
    def read(cls, description: str | None, name: str) -> Label:
        """The label. Raises `ConfigurationError` for a collection of somebody else."""
        try:
            known: dict[str, Any] = json.loads(description or "")
            return replace(cls(), **known)
        except (ValueError, TypeError):
            raise ConfigurationError(
                f"weaviate: the collection {name} was not made by eunoe; choose another EUNOE_WEAVIATE__COLLECTION"
            ) from None

    def text(self) -> str:
        """The description that holds it."""
        values = {name: value for name, value in asdict(self).items() if name != "source" or value is not None}
        return json.dumps(values, separators=(",", ":"))


def _text(name: str, *, many: bool = False) -> Property:
    """A value that is compared as a whole."""
    return Property(
        name=name,
        data_type=DataType.TEXT_ARRAY if many else DataType.TEXT,
        tokenization=Tokenization.FIELD,
        index_filterable=True,
        index_searchable=False,
    )


def _tokens(name: str) -> Property:
    """Tokens of our analyser, parted by blanks. A filter on them is answered from the postings, so no second index is needed."""
    return Property(name=name, data_type=DataType.TEXT, tokenization=Tokenization.WHITESPACE, index_filterable=False, index_searchable=True)


def _plain(name: str, kind: DataType, *, filterable: bool = True, ranges: bool = False) -> Property:
    return Property(name=name, data_type=kind, index_filterable=filterable, index_range_filters=ranges)


PROPERTIES = (
    _text("public"),
    _text("document"),
    _text("parent"),
    _text("container"),
    _text("ancestors", many=True),
    _text("kind"),
    _text("tags", many=True),
    _text("attributes", many=True),
    _plain("generation", DataType.INT, ranges=True),
    _plain("time", DataType.NUMBER, ranges=True),
    _plain("latest", DataType.BOOL),
    _plain("has_vector", DataType.BOOL),
    _plain(length_of(BODY), DataType.INT),
    _plain(length_of(CONTEXT), DataType.INT),
    _plain("position", DataType.INT, filterable=False),
    _plain("turn", DataType.BOOL, filterable=False),
    _plain("copied", DataType.BOOL, filterable=False),
    Property(name="digest", data_type=DataType.TEXT, index_filterable=False, index_searchable=False),
    _tokens(BODY),
    _tokens(CONTEXT),
)


def definition(name: str, label: Label, settings: WeaviateSettings) -> dict[str, Any]:
    """Arguments that make the collection."""
    return {
        "name": name,
        "description": label.text(),
        "properties": list(PROPERTIES),
        "vector_config": Configure.Vectors.self_provided(
            name=VECTOR,
            # No quantizer: a filtered query that meets a quantized vector while it is being inserted takes it for deleted, for ever.
            vector_index_config=Configure.VectorIndex.hnsw(
                distance_metric=VectorDistances.COSINE, quantizer=Configure.VectorIndex.Quantizer.none()
            ),
        ),
        "inverted_index_config": Configure.inverted_index(
            bm25_k1=K1, bm25_b=B, stopwords_preset=StopwordsPreset.NONE, index_null_state=False
        ),
        "multi_tenancy_config": Configure.multi_tenancy(enabled=True, auto_tenant_creation=True, auto_tenant_activation=True),
        "replication_config": Configure.replication(factor=settings.replication_factor),
    }


def checked(config: CollectionConfig) -> Label:
    """The collection's label. Raises `SchemaTooNew`, and `ConfigurationError` for tokens of another analyser or another definition."""
    label = Label.read(config.description, config.name)
    if label.schema > SCHEMA_VERSION:
        raise SchemaTooNew
    if label.analyser != ANALYSER_VERSION:
        raise ConfigurationError(
            f"weaviate: the collection {config.name} was written with another text analyser; rebuild it with `eunoe doctor --rebuild`"
        )
    wrong = _differences(config)
    if wrong:
        raise ConfigurationError(f"weaviate: the collection {config.name} is not as it was made: {', '.join(wrong)}")
    return label


def _differences(config: CollectionConfig) -> list[str]:
    there = {each.name: each for each in config.properties}
    wrong = []
    for wanted in PROPERTIES:
        found = there.get(wanted.name)
        if found is None or found.data_type != wanted.dataType or (wanted.tokenization and found.tokenization != wanted.tokenization):
            wrong.append(f"property {wanted.name}")
    if not config.multi_tenancy_config.enabled:
        wrong.append("multi-tenancy")
    bm25 = config.inverted_index_config.bm25
    if (round(bm25.k1, 4), round(bm25.b, 4)) != (K1, B):
        wrong.append("BM25 constants")
    if VECTOR not in (config.vector_config or {}):
        wrong.append(f"vector {VECTOR}")
    return wrong
