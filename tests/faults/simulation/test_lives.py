"""Lives of simulated processes: one falls right after a chosen call, and one does not reach a store for a while."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from eunoe_contracts.errors import StoreUnavailable
from eunoe_telemetry.faults import Faults, FaultyPort, Life, Trap
from eunoe_telemetry.virtual_time import run_virtually


class Store:
    def __init__(self) -> None:
        self.written: list[int] = []

    async def write(self, number: int) -> int:
        self.written.append(number)
        return number

    async def read(self) -> list[int]:
        return self.written


def seen_by(store: Store, life: Life) -> FaultyPort:
    return FaultyPort(store, "store", Faults(Random(1), 0.0), life)


def falling(life: Life, calls: int, *, counted: frozenset[str] = frozenset()) -> Trap:
    return Trap(lambda: setattr(life, "over", True), calls, counted)


def test_a_process_falls_after_the_effect_and_before_the_answer() -> None:
    async def work() -> None:
        store, life = Store(), Life()
        life.trap = falling(life, 2)
        port = seen_by(store, life)
        assert await port.write(1) == 1
        assert not life.trap.sprung.is_set()
        with pytest.raises(StoreUnavailable):
            await port.write(2)
        assert life.trap.sprung.is_set()
        with pytest.raises(StoreUnavailable):
            await port.write(3)
        assert store.written == [1, 2]

    run_virtually(work())


def test_only_named_calls_count() -> None:
    async def work() -> None:
        store, life = Store(), Life()
        life.trap = falling(life, 1, counted=frozenset({"store.write"}))
        port = seen_by(store, life)
        assert await port.read() == []
        with pytest.raises(StoreUnavailable):
            await port.write(1)

    run_virtually(work())


def test_a_trap_springs_once() -> None:
    async def work() -> int:
        springs: list[int] = []
        life = Life(trap=Trap(lambda: springs.append(1), 1))
        port = seen_by(Store(), life)
        for number in range(3):
            await port.write(number)
        return len(springs)

    assert run_virtually(work()) == 1


def test_calls_wait_while_a_store_cannot_be_reached() -> None:
    async def work() -> float:
        store, life = Store(), Life(cut_off={"store": 30.0, "log": 90.0})
        waiting = asyncio.create_task(seen_by(store, life).write(1))
        await asyncio.sleep(29.0)
        assert store.written == []
        assert await waiting == 1
        await seen_by(store, life).write(2)
        return asyncio.get_running_loop().time()

    assert run_virtually(work()) == 30.0


def test_a_process_that_is_killed_while_it_waits_has_no_effect() -> None:
    async def work() -> list[int]:
        store, life = Store(), Life(cut_off={"store": 30.0})
        waiting = asyncio.create_task(seen_by(store, life).write(1))
        await asyncio.sleep(1.0)
        life.over = True
        with pytest.raises(StoreUnavailable):
            await waiting
        return store.written

    assert run_virtually(work()) == []
