"""What an extractor says of itself."""

from __future__ import annotations

import asyncio
import importlib.util
from datetime import datetime, timedelta

import pytest
from eunoe_contracts.errors import ConfigurationError, StoreUnavailable
from eunoe_contracts.formats import BY_ID
from eunoe_extractor.backends.registry import BACKENDS, LIBRARIES
from eunoe_extractor.capabilities import Announcement, formats_at_hand
from eunoe_telemetry.testing import ManualClock


def test_all_that_has_a_parser():
    assert formats_at_hand() == frozenset(BY_ID)
    assert set(LIBRARIES) <= set(BACKENDS)


def test_the_chosen_ones():
    assert formats_at_hand(("pdf", "text")) == {"pdf", "text"}
    with pytest.raises(ConfigurationError, match="no parser for klingon, msg; there is code"):
        formats_at_hand(("klingon", "text", "msg"))


def test_a_parser_without_its_library_does_not_count(monkeypatch: pytest.MonkeyPatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mammoth" else find(name))
    assert formats_at_hand() == frozenset(BY_ID) - {"docx"}
    with pytest.raises(ConfigurationError, match="docx"):
        formats_at_hand(("docx",))


class Reports:
    """The catalogue's part; the first call fails."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, frozenset[str], datetime]] = []
        self.calls = 0

    async def report_capabilities(self, service: str, instance: str, names: frozenset[str], *, now: datetime) -> None:
        self.calls += 1
        if self.calls == 1:
            raise StoreUnavailable
        self.seen.append((service, instance, names, now))

    async def capabilities(self, service: str) -> list[object]:
        raise AssertionError(service)


async def test_it_says_so_again_and_again_whatever_happens():
    reports, clock = Reports(), ManualClock()
    start, formats = clock.now(), frozenset({"text"})
    task = asyncio.create_task(Announcement(reports, clock, "me", formats).run())  # type: ignore[arg-type]
    for _ in range(3):
        await asyncio.sleep(0)
        clock.advance(30)
        await asyncio.sleep(0)
    task.cancel()
    expected = [("extractor", "me", formats, start + timedelta(seconds=30 * n)) for n in (1, 2, 3)]
    assert reports.calls == 4
    assert reports.seen == expected
