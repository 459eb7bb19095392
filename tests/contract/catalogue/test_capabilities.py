from __future__ import annotations

import asyncio
from datetime import timedelta

from eunoe_contracts.capabilities import CapabilityReport
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON


async def test_the_last_report_of_each_process(catalogue: SqlCatalogue):
    assert await catalogue.capabilities("extractor") == []
    await catalogue.report_capabilities("extractor", "a", frozenset({"text", "pdf"}), now=NOON)
    await catalogue.report_capabilities("extractor", "b", frozenset(), now=NOON + timedelta(seconds=1))
    await catalogue.report_capabilities("embedder", "c", frozenset({"minilm"}), now=NOON)
    await catalogue.report_capabilities("extractor", "a", frozenset({"text"}), now=NOON + timedelta(seconds=2))
    assert await catalogue.capabilities("extractor") == [
        CapabilityReport("a", frozenset({"text"}), NOON + timedelta(seconds=2)),
        CapabilityReport("b", frozenset(), NOON + timedelta(seconds=1)),
    ]


async def test_what_is_a_day_older_is_forgotten(catalogue: SqlCatalogue):
    await catalogue.report_capabilities("embedder", "old", frozenset({"x"}), now=NOON)
    await catalogue.report_capabilities("extractor", "old", frozenset({"x"}), now=NOON)
    await catalogue.report_capabilities("extractor", "new", frozenset({"x"}), now=NOON + timedelta(days=1))
    assert [each.instance for each in await catalogue.capabilities("extractor")] == ["new", "old"]
    await catalogue.report_capabilities("extractor", "new", frozenset({"x"}), now=NOON + timedelta(days=1, seconds=1))
    assert [each.instance for each in await catalogue.capabilities("extractor")] == ["new"]
    assert [each.instance for each in await catalogue.capabilities("embedder")] == ["old"]


async def test_many_report_at_once(catalogue: SqlCatalogue):
    names = frozenset({"text"})
    await asyncio.gather(*(catalogue.report_capabilities("extractor", f"{n % 8}", names, now=NOON) for n in range(32)))
    assert [each.instance for each in await catalogue.capabilities("extractor")] == [f"{n}" for n in range(8)]
