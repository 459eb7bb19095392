"""A validated query: everything that can be wrong with a request is found here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from eunoe.v1 import search_pb2
from eunoe_contracts.errors import CapabilityUnavailable, EmptyContent, InvalidField
from eunoe_stores.vectors.port import IndexFilter

from eunoe_search.filters import read_containers, read_filters

DEFAULT_LIMIT = 10
MAX_LIMIT = 100
MAX_OFFSET = 10_000
MAX_CHARACTERS = 10_000
MAX_CONTAINERS = 100


class Mode(StrEnum):
    """Which arms answer: all with priors and hops, BM25 only, or vectors only."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"


class Fusion(StrEnum):
    """How the arms are put together."""

    MINMAX = "minmax"
    RRF = "rrf"


class Step(StrEnum):
    """What mode hybrid does after fusion; each can be left out to measure what it adds."""

    PARENT_PRIOR = "parent_prior"
    FOLLOWING_PRIOR = "following_prior"
    TITLE_NAMED = "title_named"
    MENTION_HOP = "mention_hop"
    TURN_SIGNS = "turn_signs"


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `where.containers` holds the ancestors already when they are to be searched."""

    text: str
    where: IndexFilter
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.MINMAX
    include_related: bool = False
    explain: bool = False
    ablate: frozenset[Step] = frozenset()


def read_query(request: search_pb2.SearchRequest, *, default_fusion: str, has_model: bool) -> Query:
    """The query of a request. Raises `EmptyContent`, `UnknownFilter`, `InvalidField`, and `CapabilityUnavailable` for
    vector search on a server without an embedding model.
    """
    text = request.query.strip()
    if not text:
        raise EmptyContent("query: must not be empty")
    if len(text) > MAX_CHARACTERS:
        raise InvalidField(f"query: at most {MAX_CHARACTERS} characters")
    if request.HasField("as_of"):
        raise InvalidField("as_of: searching the past is not supported by this version; leave it out to search what is valid now")
    if len(request.containers) > MAX_CONTAINERS:
        raise InvalidField(f"containers: at most {MAX_CONTAINERS}")
    mode = _choice(Mode, "mode", request.mode or Mode.HYBRID)
    if mode is Mode.VECTOR and not has_model:
        raise CapabilityUnavailable("mode vector needs an embedding model; configure one (`eunoe models pull`), or use mode keyword")
    return Query(
        text=text,
        where=read_filters(request.filters, read_containers(tuple(request.containers), inherit=request.inherit)),
        limit=_between("limit", request.limit or DEFAULT_LIMIT, 1, MAX_LIMIT),
        offset=_between("offset", request.offset, 0, MAX_OFFSET),
        mode=mode,
        fusion=_choice(Fusion, "fusion", request.fusion or default_fusion),
        include_related=request.include_related,
        explain=request.explain,
        ablate=frozenset(_choice(Step, "ablate", each) for each in request.ablate),
    )


_Choice = TypeVar("_Choice", bound=StrEnum)


def _choice(options: type[_Choice], name: str, value: str) -> _Choice:
    try:
        return options(value)
    except ValueError:
        raise InvalidField(f"{name}: use one of {', '.join(options)}") from None


def _between(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InvalidField(f"{name}: from {low} to {high}")
    return value
