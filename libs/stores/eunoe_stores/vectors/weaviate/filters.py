"""`IndexFilter` as a condition that Weaviate checks inside of the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from eunoe_contracts.content import STRUCTURE_KINDS
from weaviate.classes.query import Filter
from weaviate.collections.classes.filters import FilterReturn

from eunoe_stores.vectors.analysis import seconds
from eunoe_stores.vectors.port import IndexFilter
from eunoe_stores.vectors.weaviate.names import attribute_token, escaped, tag_token

STRUCTURE = tuple(sorted(kind.value for kind in STRUCTURE_KINDS))


def condition(where: IndexFilter, *others: FilterReturn) -> FilterReturn | None:
    """All conditions together; None when there is none. Both time bounds are inclusive; rows without a time satisfy neither."""
    found = list(others)
    if where.latest_only:
        found.append(Filter.by_property("latest").equal(True))  # noqa: FBT003 - a value
    if where.containers and "*" not in where.containers:
        found.append(_containers(where.containers))
    if where.kinds:
        found.append(among("kind", sorted(kind.value for kind in where.kinds)))
    if where.documents:
        found.append(ids("document", where.documents))
    if where.tags_any:
        found.append(among("tags", [tag_token(tag) for tag in where.tags_any]))
    found += [Filter.by_property("tags").contains_any([tag_token(tag)]) for tag in where.tags_all]
    found += [Filter.by_property("attributes").contains_any([attribute_token(*each)]) for each in where.attributes.items()]
    if where.since is not None:
        found.append(Filter.by_property("time").greater_or_equal(seconds(where.since)))
    if where.until is not None:
        found.append(Filter.by_property("time").less_or_equal(seconds(where.until)))
    return Filter.all_of(found) if found else None


def among(name: str, values: Sequence[str]) -> FilterReturn:
    """The property is, or has, one of the values, of which there is at least one."""
    return Filter.by_property(name).contains_any(list(values))


def ids(name: str, values: Iterable[UUID]) -> FilterReturn:
    """The property is one of these ids."""
    return among(name, [each.hex for each in values])


def keys_among(keys: Sequence[UUID]) -> FilterReturn:
    """The row is one of these."""
    return Filter.by_id().contains_any(list(keys))


def structure_through(document: UUID, generation: int) -> FilterReturn:
    """Structure rows of a document, of that and older generations."""
    return Filter.all_of(
        [ids("document", [document]), among("kind", STRUCTURE), Filter.by_property("generation").less_or_equal(generation)]
    )


def _containers(patterns: Sequence[str]) -> FilterReturn:
    exact = [escaped(each) for each in patterns if not each.endswith("*")]
    # Below a container: one value to look up, however many containers there are.
    below = [escaped(each[:-2]) for each in patterns if each.endswith(".*")]
    prefixes = [escaped(each[:-1]) for each in patterns if each.endswith("*") and not each.endswith(".*")]
    found = [among(name, values) for name, values in (("container", exact), ("ancestors", below)) if values]
    found += [Filter.by_property("container").like(f"{prefix}*") for prefix in prefixes]
    return Filter.any_of(found)
