"""What no extractor at work reads is refused at the door, with nothing left of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from eunoe_contracts.capabilities import EXTRACTOR
from eunoe_contracts.errors import CapabilityUnavailable
from eunoe_contracts.formats import BY_ID

PDF = b"%PDF-1.7\n%\x00\x01\x02\x03"


async def report(world: Any, instance: str, *names: str) -> None:
    await world.catalogue.report_capabilities(EXTRACTOR, instance, frozenset(names), now=world.clock.now())


async def test_everything_is_taken_in_while_no_extractor_was_ever_there(world: Any) -> None:
    await world.upload(PDF, name="a.pdf")


async def test_a_format_that_none_reads(world: Any) -> None:
    await report(world, "a", "text", "markdown")
    with pytest.raises(CapabilityUnavailable, match=r"read pdf; at present they read: markdown, text\."):
        await world.upload(PDF, name="a.pdf")
    assert await world.nothing_left()
    await world.post()
    await report(world, "a", "text", "pdf")
    await world.upload(PDF, name="a.pdf")  # before it is refused, the catalogue is asked again


async def test_a_format_that_one_of_several_does_not_read(world: Any) -> None:
    await report(world, "a", "text", "pdf")
    await world.upload(PDF, name="a.pdf")
    await report(world, "b", "text")
    world.clock.advance(5)
    with pytest.raises(CapabilityUnavailable):
        await world.upload(PDF, name="b.pdf")
    world.clock.advance(100)
    await report(world, "a", "text", "pdf")
    await world.upload(PDF, name="b.pdf")


async def test_what_stands_already_needs_no_extractor(world: Any) -> None:
    await report(world, "a", "pdf")
    first = await world.upload(PDF, name="a.pdf")
    await report(world, "a", "text")
    world.clock.advance(5)
    again = await world.upload(PDF, name="a.pdf")
    assert (again.id, again.deduplicated) == (first.id, True)


async def test_extractors_that_are_all_down_refuse_nothing(world: Any) -> None:
    await report(world, "a", "text", "pdf")
    world.clock.advance(timedelta(hours=20).total_seconds())
    await world.upload(PDF, name="a.pdf")


async def test_accepting_asks_the_catalogue_once_in_a_while(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    ask = world.catalogue.capabilities

    async def counted(service: str) -> Any:
        nonlocal asked
        asked += 1
        return await ask(service)

    monkeypatch.setattr(world.catalogue, "capabilities", counted)
    await report(world, "a", "text")
    for number in range(9):
        await world.post(f"text {number}")
    assert asked == 1
    world.clock.advance(5)
    await world.post("one more")
    assert asked == 2


async def test_the_list_says_what_is_accepted_now_and_what_the_others_lack(world: Any) -> None:
    async def told() -> dict[str, tuple[bool, str]]:
        return {each.id: (each.available, each.reason) for each in (await world.gateway.list_formats(world.who)).formats}

    before = await told()
    assert set(before) == set(BY_ID)
    assert all(available and "waits for the first" in reason for available, reason in before.values())
    await report(world, "a", "text", "pdf")
    await report(world, "b", "text")
    after = await told()
    assert after["text"] == (True, "")
    available, reason = after["pdf"]
    assert not available
    assert "(pypdfium2)" in reason
    assert "EUNOE_EXTRACTOR__FORMATS" in reason
