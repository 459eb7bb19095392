"""The last version posted under a `custom_id` is the one that stays."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eunoe_contracts import topics
from eunoe_contracts.errors import StoreUnavailable
from eunoe_standalone.testing_pipeline import Call, Pipeline, faulty, pipeline, until

NO_SWEEPER = {"sweep_after_s": 3600.0}


async def alone(running: Pipeline, query: str) -> set[str]:
    return set(await running.hits(query))


async def test_posting_an_old_version_again_makes_it_the_last(tmp_path: Path) -> None:
    gate = asyncio.Event()
    held = False

    async def index(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if held and name == "upsert":
            await gate.wait()
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(vectors=index), **NO_SWEEPER) as running:
        first = await running.post("The gauge reads seven.", custom_id="gauge")
        await running.ended(first)
        held = True
        second = await running.post("The gauge reads eight.", custom_id="gauge")
        assert await running.post("The gauge reads seven.", custom_id="gauge") == first
        assert await alone(running, "gauge reads") == {str(first)}, "readable until the new generation is done"
        gate.set()

        async def settled() -> bool:
            return await running.row(second) is None and await alone(running, "gauge reads") == {str(first)}

        await until(settled, what=lambda: "two versions, or the wrong one")
        await running.ended(first)
        assert "The gauge reads seven." in await running.contents("gauge reads")


async def test_repeating_an_old_version_by_its_key_is_a_retry_and_changes_nothing(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def index(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert":
            await gate.wait()  # neither version is done, so neither replaces the other yet
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(vectors=index), **NO_SWEEPER) as running:
        first = await running.post("The gauge reads seven.", custom_id="gauge", key="one")
        second = await running.post("The gauge reads eight.", custom_id="gauge", key="two")
        await running.post("The gauge reads seven.", custom_id="gauge", key="one")
        row = await running.row(first)
        assert row is not None
        assert row.generation == 1
        gate.set()
        await running.ended(second)


async def test_two_versions_that_end_in_the_wrong_order_leave_the_last(tmp_path: Path) -> None:
    gate = asyncio.Event()
    slow: list[str] = []

    async def index(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "upsert" and str(args[1][0].document) in slow:
            await gate.wait()
        return await call(*args, **named)

    async def accepted(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if name == "accept" and not slow:
            slow.append(str(args[1].id))
        return await call(*args, **named)

    async with pipeline(tmp_path, wrap=faulty(vectors=index, catalogue=accepted), **NO_SWEEPER) as running:
        first = await running.post("The gauge reads seven.", custom_id="gauge")
        second = await running.post("The gauge reads eight.", custom_id="gauge")
        await running.ended(second)
        gate.set()

        async def settled() -> bool:
            return await running.row(first) is None and await alone(running, "gauge reads") == {str(second)}

        await until(settled, what=lambda: "the older version is still there")


async def test_the_older_version_goes_also_when_the_sweeper_fails_between_the_end_and_its_removal(tmp_path: Path) -> None:
    deaf, failures, armed = False, 0, False

    async def log(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal deaf
        if name == "publish" and deaf:
            # As if the finisher had given all records of the stages up: only the sweeper is left to end the document.
            args = ([each for each in args[0] if each.topic != topics.STAGE_FINISHED],)
        if name == "has_pending" and args[1] == "finish":
            deaf = False
        return await call(*args, **named)

    async def catalogue(call: Call, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        nonlocal failures
        if name == "older_versions" and armed and args[1] != first and not failures:
            failures += 1
            raise StoreUnavailable
        return await call(*args, **named)

    wrap = faulty(log=log, catalogue=catalogue)
    async with pipeline(tmp_path, wrap=wrap, sweep_interval_s=0.05, sweep_after_s=0.1, sweep_again_s=0.1) as running:
        first = await running.post("The gauge reads seven.", custom_id="gauge")
        await running.ended(first)
        deaf = armed = True
        second = await running.post("The gauge reads eight.", custom_id="gauge")
        await running.ended(second)

        async def settled() -> bool:
            return await running.row(first) is None and await alone(running, "gauge reads") == {str(second)}

        await until(settled, within_s=4, what=lambda: "two versions")
        assert failures == 1
