"""All sections of settings (`EUNOE_<SECTION>__*`): one `.env` serves all processes, and each knows only its own settings."""

from __future__ import annotations

from collections.abc import Iterable

from eunoe_process.settings_table import Owner, section_of

DOORS = "SERVER"
SECTIONS = (
    DOORS,
    "GATEWAY",
    "AUTH",
    "CLIENT",
    "EXTRACTOR",
    "EMBEDDER",
    "LLM",
    "GRAPH",
    "SEARCH",
    "MODELS",
    "PROCESS",
    "INTERNAL",
    "POSTGRES",
    "S3",
    "WEAVIATE",
    "NEO4J",
    "KAFKA",
)
"""A variable of another section is a typing mistake in every process. A test compares this with the classes there are."""


def others(owners: Iterable[Owner]) -> tuple[str, ...]:
    """Sections that other processes read."""
    own = {section_of(each) for each in owners}
    return tuple(each for each in SECTIONS if each not in own)
