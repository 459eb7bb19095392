"""Random histories of documents, ledgers, units and memories, against a model in dictionaries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
from eunoe_contracts.errors import StaleGeneration
from eunoe_contracts.stages import ClaimOutcome, DocumentStatus, FinishOutcome, Stage, StageState, is_settled
from eunoe_stores.catalogue.rows import AcceptAction, DeadLetterQuery, DocumentQuery, End, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON, TENANT, accept, memory, new_document, passage
from eunoe_stream.ledger import Failure, StageKey
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

T = TypeVar("T")
Adapter = Callable[[], AbstractAsyncContextManager[SqlCatalogue]]
LEASE_S = 30.0
DOCUMENTS, STAGES = st.sampled_from(["one", "two"]), st.sampled_from([Stage.EXTRACT, Stage.EMBED, Stage.PROPOSE])
STALE = st.sampled_from([False, False, False, True])
STATEMENTS = st.sets(st.sampled_from(["Mara owns it.", "It is red.", "It was cold."]))
PROJECTING = {Stage.EMBED, Stage.EMBED_MEMORIES, Stage.STRUCTURE, Stage.RELATE}
BAD_ENDS = {DocumentStatus.FAILED, DocumentStatus.CANCELLED, DocumentStatus.ERASED}


@dataclass
class Row:
    """One stage of the model."""

    state: StageState = StageState.WAITING
    owner: str = ""
    until: datetime = NOON


@dataclass
class Model:
    """A document of the model; `end` is None while it is open."""

    generation: int = 1
    end: DocumentStatus | None = None
    stages: dict[Stage, Row] = field(default_factory=dict)
    units: dict[int, int] = field(default_factory=dict)

    def row(self, stage: Stage) -> Row:
        return self.stages.setdefault(stage, Row())

    def states(self) -> dict[Stage, StageState]:
        return {stage: row.state for stage, row in self.stages.items()}

    def is_fenced(self, generation: int) -> bool:
        return generation != self.generation or self.end in BAD_ENDS


class CatalogueMachine(RuleBasedStateMachine):
    """The catalogue, and beside it the model."""

    adapter: Adapter

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.now = NOON
        self.known: dict[str, Model] = {}
        self.letters: dict[tuple[str, int, Stage], bool] = {}
        self.sources: dict[str, set[tuple[str, int]]] = {}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        self.now += timedelta(milliseconds=1)
        return self.runner.run(work)

    @initialize()
    def open(self) -> None:
        self.catalogue = self.run(self.stack.enter_async_context(type(self).adapter()))

    def identity(self, name: str) -> UUID:
        return new_document(name).id

    def of(self, name: str, stale: bool) -> tuple[Model | None, int]:
        """The model, and a generation to name: the current one, or one that is not."""
        model = self.known.get(name)
        return model, (model.generation if model else 1) - stale

    def is_fenced(self, model: Model | None, generation: int) -> bool:
        return model is None or model.is_fenced(generation)

    @rule(name=DOCUMENTS, reprocess=STALE)
    def accept(self, name: str, reprocess: bool) -> None:
        model = self.known.get(name)
        accepted = self.run(accept(self.catalogue, new_document(name), reprocess=reprocess, now=self.now))
        if model is None:
            expected, self.known[name] = AcceptAction.CREATE, Model()
        elif reprocess or model.end in BAD_ENDS:
            expected = AcceptAction.REACCEPT
            self.known[name] = Model(model.generation + 1, units=model.units)
        else:
            expected = AcceptAction.DEDUPLICATE
        assert (accepted.action, accepted.document.generation) == (expected, self.known[name].generation)

    @rule(name=DOCUMENTS, stage=STAGES, owner=st.sampled_from("ab"), stale=STALE)
    def claim(self, name: str, stage: Stage, owner: str, stale: bool) -> None:
        model, generation = self.of(name, stale)
        key = StageKey(self.identity(name), generation, stage)
        outcome = self.run(self.catalogue.claim(TENANT, key, owner=owner, lease_s=LEASE_S, now=self.now))
        if model is None or model.is_fenced(generation):
            assert outcome is ClaimOutcome.FENCED
            return
        row = model.row(stage)
        if row.state in {StageState.FINISHED, StageState.EXHAUSTED}:
            assert outcome.value == row.state.value
        elif row.state is StageState.RUNNING and row.owner != owner and row.until > self.now:
            assert outcome is ClaimOutcome.BUSY
        else:
            assert outcome is ClaimOutcome.CLAIMED
            model.stages[stage] = Row(StageState.RUNNING, owner, self.now + timedelta(seconds=LEASE_S))

    @rule(name=DOCUMENTS, stage=STAGES, stale=STALE)
    def finish(self, name: str, stage: Stage, stale: bool) -> None:
        model, generation = self.of(name, stale)
        outcome = self.run(self.catalogue.finish(TENANT, StageKey(self.identity(name), generation, stage), owner="a", now=self.now))
        if model is None or model.is_fenced(generation) or model.row(stage).state is StageState.EXHAUSTED:
            assert outcome is FinishOutcome.FENCED
            return
        model.stages[stage] = Row(StageState.FINISHED)
        assert outcome is (FinishOutcome.SETTLED if is_settled(model.states()) else FinishOutcome.FINISHED)

    @rule(name=DOCUMENTS, stage=STAGES, stale=STALE)
    def exhaust(self, name: str, stage: Stage, stale: bool) -> None:
        model, generation = self.of(name, stale)
        failure = Failure("x", "it broke", 5, self.now, self.now)
        self.run(self.catalogue.exhaust(TENANT, StageKey(self.identity(name), generation, stage), failure))
        if model is None or model.is_fenced(generation) or model.row(stage).state in {StageState.FINISHED, StageState.EXHAUSTED}:
            return
        model.stages[stage] = Row(StageState.EXHAUSTED)
        self.letters[name, generation, stage] = False

    @rule(name=DOCUMENTS, status=st.sampled_from([DocumentStatus.DONE, DocumentStatus.FAILED]), stale=STALE)
    def end(self, name: str, status: DocumentStatus, stale: bool) -> None:
        model, generation = self.of(name, stale)
        changed = self.run(self.catalogue.set_end(TENANT, self.identity(name), generation, End(status), now=self.now))
        if model is not None and model.end is None and generation == model.generation:
            assert changed
            model.end = status
        else:
            assert not changed

    @rule(name=DOCUMENTS, stage=STAGES, again=st.booleans())
    def give_up(self, name: str, stage: Stage, again: bool) -> None:
        """A stage of a document that is accepted gives up, the document fails, somebody replays it, perhaps twice."""
        self.accept(name, reprocess=False)
        self.finish(name, Stage.EMBED, stale=False)
        self.claim(name, stage, "a", stale=False)
        self.exhaust(name, stage, stale=False)
        self.finish(name, stage, stale=False)
        self.end(name, DocumentStatus.FAILED, stale=False)
        for _ in range(1 + again):
            self.replay(name, stage)

    @rule(name=DOCUMENTS, stage=STAGES)
    def contend(self, name: str, stage: Stage) -> None:
        """Two workers want the same stage."""
        self.accept(name, reprocess=False)
        for owner in "aba":
            self.claim(name, stage, owner, stale=False)

    @rule(name=DOCUMENTS, other=DOCUMENTS, statements=STATEMENTS)
    def forget_one_of_two(self, name: str, other: str, statements: set[str]) -> None:
        """Two documents say the same, one of them is erased."""
        for each in (name, other):
            self.accept(each, reprocess=False)
            self.put_memories(each, statements, stale=False)
        self.erase(name)

    @rule(name=DOCUMENTS)
    def cancel(self, name: str) -> None:
        model = self.known.get(name)
        row = self.run(self.catalogue.cancel(TENANT, self.identity(name), now=self.now))
        assert (row is not None) is (model is not None and model.end is None)
        if row is not None and model is not None:
            model.end = DocumentStatus.CANCELLED
            self.run(self.catalogue.close_cancelled(TENANT, row.id, row.generation))
            self.letters = {key: replayed for key, replayed in self.letters.items() if key[0] != name or key[1] > row.generation}

    @rule(name=DOCUMENTS)
    def erase(self, name: str) -> None:
        model, document = self.known.get(name), self.identity(name)
        erasure = self.run(self.catalogue.erase(TENANT, document, now=self.now))
        if model is None or model.end is DocumentStatus.ERASED:
            assert erasure is None
            return
        assert erasure is not None
        assert erasure.generation == model.generation
        model.end = DocumentStatus.ERASED
        # What only it held is gone from every answer already, before its rows are removed.
        self.forget(name)
        self.memories_are_those_with_a_source()
        self.run(self.catalogue.delete_units(TENANT, document, through_generation=model.generation))
        self.run(self.catalogue.drop_sources(TENANT, document, through_generation=model.generation))
        self.run(self.catalogue.prove_erasure(TENANT, document, model.generation, now=self.now))
        model.units.clear()

    def forget(self, name: str) -> None:
        for held in self.sources.values():
            held -= {each for each in held if each[0] == name}

    @rule(name=DOCUMENTS, stage=STAGES)
    def replay(self, name: str, stage: Stage) -> None:
        query = DeadLetterQuery(document=self.identity(name), include_replayed=True)
        found, _ = self.run(self.catalogue.dead_letters(TENANT, query, Page()))
        for letter in found:
            if letter.stage != stage:
                continue
            model, key = self.known[name], (name, letter.generation, stage)
            if self.letters[key]:
                assert self.run(self.catalogue.reopen(TENANT, letter.id, now=self.now)) is None
            elif model.generation != letter.generation or model.end in {DocumentStatus.ERASED, DocumentStatus.CANCELLED}:
                with pytest.raises(StaleGeneration):
                    self.run(self.catalogue.reopen(TENANT, letter.id, now=self.now))
            else:
                assert self.run(self.catalogue.reopen(TENANT, letter.id, now=self.now)) is not None
                self.reopened(model, stage)
                self.letters[key] = True

    def reopened(self, model: Model, stage: Stage) -> None:
        if model.end is DocumentStatus.FAILED:
            for each, row in model.stages.items():
                if row.state is StageState.RUNNING or (row.state is StageState.FINISHED and each in PROJECTING):
                    model.stages[each] = Row()
        if model.row(stage).state is StageState.EXHAUSTED:
            model.stages[stage] = Row()
        model.end = None

    @rule(name=DOCUMENTS, count=st.integers(0, 3), stale=STALE)
    def put_units(self, name: str, count: int, stale: bool) -> None:
        model, generation = self.of(name, stale)
        document = self.identity(name)
        units = [passage(document, n, generation=generation) for n in range(count)]
        stored = self.run(self.catalogue.put_units(TENANT, document, generation, units, title=name, now=self.now))
        assert stored is not self.is_fenced(model, generation)
        if stored and model is not None:
            model.units[generation] = count

    @rule(name=DOCUMENTS, statements=STATEMENTS, stale=STALE)
    def put_memories(self, name: str, statements: set[str], stale: bool) -> None:
        model, generation = self.of(name, stale)
        document = self.identity(name)
        made = [memory(document, each, generation=generation) for each in sorted(statements)]
        rows = self.run(self.catalogue.put_memories(TENANT, document, generation, made, now=self.now))
        if model is None or model.is_fenced(generation):
            assert list(rows) == []
            return
        for stage in (Stage.EMBED_MEMORIES, Stage.RELATE):
            before, after = (StageState.FINISHED, StageState.WAITING) if statements else (StageState.WAITING, StageState.FINISHED)
            if model.row(stage).state is before:
                model.stages[stage] = Row(after)
        assert [row.text for row in rows] == sorted(statements)
        for each in {*self.sources, *statements}:
            held = self.sources.setdefault(each, set())
            held.discard((name, generation))
            if each in statements:
                held.add((name, generation))

    @rule(seconds=st.sampled_from([1.0, LEASE_S + 1]))
    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def restart(self) -> None:
        self.run(self.catalogue.release_claims(now=self.now))
        for model in self.known.values():
            if model.end is None:
                model.stages = {stage: Row() if row.state is StageState.RUNNING else row for stage, row in model.stages.items()}

    @invariant()
    def documents_are_those_of_the_model(self) -> None:
        for name, model in self.known.items():
            document = self.identity(name)
            row = self.run(self.catalogue.document(TENANT, document))
            assert (row is None) is (model.end is DocumentStatus.ERASED)
            if row is not None:
                assert (row.generation, row.status if row.status.is_end else None) == (model.generation, model.end)
                states = {stage: each.state for stage, each in row.stages.items() if each.state is not StageState.WAITING}
                assert states == {stage: state for stage, state in model.states().items() if state is not StageState.WAITING}
            assert self.run(self.catalogue.may_write(TENANT, document, model.generation)) is not model.is_fenced(model.generation)
            for generation, count in model.units.items():
                assert len(self.run(self.catalogue.units(TENANT, document, generation))) == count

    @invariant()
    def counts_are_those_of_the_model(self) -> None:
        if not self.known:
            return
        assert self.run(self.catalogue.count_open()) == sum(model.end is None for model in self.known.values())
        _, total = self.run(self.catalogue.list_documents(TENANT, DocumentQuery(), Page()))
        assert total == sum(model.end is not DocumentStatus.ERASED for model in self.known.values())
        _, letters = self.run(self.catalogue.dead_letters(TENANT, DeadLetterQuery(), Page()))
        assert letters == sum(not replayed for replayed in self.letters.values())

    @invariant()
    def memories_are_those_with_a_source(self) -> None:
        if self.known:
            listed, _ = self.run(self.catalogue.list_memories(TENANT, container="", document=None, kinds=frozenset(), page=Page()))
            assert {each.text for each in listed} == {text for text, held in self.sources.items() if held}

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.runner.close()


EXAMPLES = {"sqlite": 40, "postgres": 10}
"""A server answers more slowly than a file."""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_any_history_of_documents_agrees_with_the_model(request: pytest.FixtureRequest, open_catalogue: Adapter) -> None:
    class Machine(CatalogueMachine):
        pass

    Machine.adapter = staticmethod(open_catalogue)  # type: ignore[assignment]  # a plain function, not a method
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES[request.node.callspec.params["open_catalogue"]],
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # making a failure smaller takes longer than a test may; its steps are printed anyway
        ),
    )
