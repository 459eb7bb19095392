"""The pause of a stage that fails for every document."""

from __future__ import annotations

import asyncio
from typing import Any

from eunoe_contracts import topics
from eunoe_contracts.errors import CapabilityUnavailable, CorruptDocument, StoreUnavailable
from eunoe_contracts.events import Event
from eunoe_stream.runner.circuit import LONGEST_PROBE_S, Circuit
from eunoe_telemetry.testing import ManualClock, eventually


def paused_metric(bench: Any) -> float | None:
    found = bench.metrics.registry.get_sample_value("eunoe_stage_paused", {"stage": "extract"})
    assert found is None or isinstance(found, float)
    return found


class Deploy:
    """A handler that is broken until it is repaired."""

    def __init__(self) -> None:
        self.broken = True
        self.runs = 0
        self.done: set[str] = set()
        self.error: Exception = CapabilityUnavailable()

    async def __call__(self, event: Event) -> list[Event]:
        self.runs += 1
        if self.broken:
            raise self.error
        self.done.add(str(event.document))
        return []


async def test_a_bad_deploy_pauses_the_stage_and_a_repaired_one_goes_on(bench: Any) -> None:
    deploy = Deploy()
    runner = await bench.start(handler=deploy, concurrency=1)
    await bench.accept(*[f"d{n}" for n in range(100)])
    await eventually(lambda: runner.health()[bench.group].paused)
    await bench.settle()
    assert 11 <= len(bench.dead()) <= 20, "the dead letters stay bounded"
    assert paused_metric(bench) == 1
    assert runner.health()[bench.group].reason == "capability_unavailable"
    runs = deploy.runs
    bench.clock.advance(4)
    await bench.settle()
    assert deploy.runs == runs
    for seconds in (1.5, 10, 20):  # 5 s, then twice that each time
        bench.clock.advance(seconds)
        await bench.settle()
    assert deploy.runs == runs + 3
    dead = len(bench.dead())
    deploy.broken = False
    await eventually(lambda: not runner.health()[bench.group].paused, meanwhile=lambda: bench.clock.advance(10))
    await bench.committed()
    assert paused_metric(bench) == 0
    assert len(deploy.done) == 100 - dead
    assert len(bench.dead()) == dead
    assert runner.health()[bench.group].reason == ""


async def test_unexpected_errors_pause_after_their_retries(bench: Any) -> None:
    deploy = Deploy()
    deploy.error = ValueError("a defect")
    runner = await bench.start(handler=deploy, max_attempts=2)
    await bench.accept(*[f"d{n}" for n in range(100)])
    await eventually(lambda: runner.health()[bench.group].paused, meanwhile=lambda: bench.clock.advance(0.1))
    assert len(bench.dead()) <= 20
    deploy.broken = False
    await eventually(lambda: len(deploy.done) + len(bench.dead()) == 100, meanwhile=lambda: bench.clock.advance(1))


async def test_bad_documents_do_not_pause_a_stage(bench: Any) -> None:
    deploy = Deploy()
    deploy.error = CorruptDocument()
    runner = await bench.start(handler=deploy)
    await bench.accept(*[f"d{n}" for n in range(100)])
    await bench.committed()
    assert len(bench.dead()) == 100
    assert not runner.health()[bench.group].paused


async def test_stop_while_paused_ends_and_commits_nothing_unfinished(bench: Any) -> None:
    deploy = Deploy()
    runner = await bench.start(handler=deploy)
    await bench.accept(*[f"d{n}" for n in range(100)])
    await eventually(lambda: runner.health()[bench.group].paused)
    await runner.drain(5)
    kept = 100 - len(bench.dead())
    assert await bench.log.lag(bench.topic, bench.group) >= kept > 0
    deploy.broken = False
    await bench.start(handler=deploy, instance="two")
    await bench.committed()
    assert len(deploy.done) == kept
    assert len(bench.log.records(topics.STAGE_FINISHED)) >= 100


async def test_a_probe_that_meets_an_outage_is_kept_and_not_counted(bench: Any) -> None:
    deploy = Deploy()
    runner = await bench.start(handler=deploy)
    await bench.accept(*[f"d{n}" for n in range(100)])
    await eventually(lambda: runner.health()[bench.group].paused)
    await bench.settle()
    deploy.error = StoreUnavailable()
    runs = deploy.runs
    await eventually(lambda: deploy.runs >= runs + 3, meanwhile=lambda: bench.clock.advance(5))
    assert bench.retries(1) == []
    assert runner.health()[bench.group].paused


def open_circuit(clock: ManualClock) -> Circuit:
    circuit = Circuit(clock, on_change=lambda _: None)
    for n in range(20):
        circuit.failed(str(n), "internal_error", probe=False)
    assert circuit.paused
    return circuit


async def test_one_document_that_fails_again_and_again_is_not_a_bad_stage() -> None:
    circuit = Circuit(ManualClock(), on_change=lambda _: None)
    for _ in range(100):
        assert not circuit.failed("same", "internal_error", probe=False)


async def test_old_outcomes_do_not_count() -> None:
    clock = ManualClock()
    circuit = Circuit(clock, on_change=lambda _: None)
    for n in range(60):
        clock.advance(4)
        assert not circuit.failed(str(n), "internal_error", probe=False)


async def test_half_is_not_more_than_half() -> None:
    circuit = Circuit(ManualClock(), on_change=lambda _: None)
    for n in range(50):
        circuit.succeeded(f"good{n}", probe=False)
        assert not circuit.failed(str(n), "internal_error", probe=False)


async def test_a_probe_that_tells_nothing_lets_another_run_at_once() -> None:
    clock = ManualClock()
    circuit = open_circuit(clock)
    first, second = asyncio.create_task(circuit.admit()), asyncio.create_task(circuit.admit())
    await asyncio.sleep(0)
    clock.advance(5)
    assert await first is True
    circuit.neutral("x", probe=True)
    assert await second is True
    circuit.succeeded("y", probe=True)
    assert await circuit.admit() is False


async def test_a_cancelled_probe_passes_its_turn_on() -> None:
    clock = ManualClock()
    circuit = open_circuit(clock)
    first, second = asyncio.create_task(circuit.admit()), asyncio.create_task(circuit.admit())
    await asyncio.sleep(0)
    clock.advance(5)
    await asyncio.sleep(0)
    first.cancel()
    assert await second is True
    circuit.abandon()


async def test_a_turn_nobody_waited_for_is_kept_for_the_next() -> None:
    clock = ManualClock()
    circuit = open_circuit(clock)
    await asyncio.sleep(0)
    clock.advance(5)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await circuit.admit() is True
    circuit.abandon()


async def test_probes_never_wait_longer_than_five_minutes() -> None:
    clock = ManualClock()
    circuit = open_circuit(clock)
    for _ in range(12):
        waiting = asyncio.create_task(circuit.admit())
        await asyncio.sleep(0)
        clock.advance(LONGEST_PROBE_S)
        assert await waiting is True
        assert circuit.failed("x", "internal_error", probe=True)
    circuit.abandon()
