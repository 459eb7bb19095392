"""Signs that a conversation turn answers a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest
from eunoe_contracts.content import Kind, Location, Unit
from eunoe_contracts.identity import keyed_document_id, passage_id, row_key
from eunoe_search.turn_signs import COVERAGE, WEIGHTS, TurnReader, total
from eunoe_search.turns import read_question, read_turn, signs
from eunoe_stores.vectors.port import RowRef


def signs_of(question: str, text: str, *, speaker: str = "Mara", before: str = "") -> Mapping[str, float]:
    context = "\n".join(part for part in ("2 May 2024 > Mara", before, text) if part)
    return signs(read_question(question), read_turn(speaker, text, context))


@pytest.mark.parametrize(
    ("question", "for_number", "for_thing"),
    [
        ("When did Mara buy the skiff?", True, False),
        ("How many oars are there?", True, False),
        ("What year was the regatta?", True, False),
        ("Where is the skiff?", False, False),
        ("What did Mara buy?", False, True),
        ("Mara's skiff", False, False),
    ],
)
def test_the_kind_of_a_question(question: str, for_number: bool, for_thing: bool) -> None:
    asked = read_question(question)
    assert (asked.for_number, asked.for_thing) == (for_number, for_thing)


def test_the_speaker_that_the_question_names() -> None:
    assert signs_of("What did Mara's brother say?", "Hello.")["speaker_named"] == 1
    assert signs_of("What did Marabel say?", "Hello.")["speaker_named"] == 0


def test_questions_and_answers_to_them() -> None:
    assert signs_of("What?", "Is it blue?")["is_question"] == 1
    answer = signs_of("What?", "It is blue.", before="Tove: Is it blue?")
    assert (answer["is_question"], answer["follows_question"]) == (0, 1)
    assert signs_of("What?", "It is blue.", before="Tove: No.")["follows_question"] == 0


def test_numbers_and_times_count_only_when_asked_for() -> None:
    assert signs_of("When was it?", "We met last week.")["number_wanted"] == 1
    assert signs_of("When was it?", "We met there.")["number_wanted"] == 0
    assert signs_of("Why was it?", "We met in 2023.")["number_wanted"] == 0


def test_length_is_bounded_and_the_first_person_is_seen() -> None:
    assert signs_of("What?", "word " * 500)["length"] == 1
    assert 0 < signs_of("What?", "Yes.")["length"] < 0.3
    assert signs_of("What?", "I\u2019m at the quay")["first_person"] == 1
    assert signs_of("What?", "It stands at the quay")["first_person"] == 0


def test_every_sign_has_a_weight() -> None:
    assert {*signs_of("What?", "Yes."), COVERAGE} == set(WEIGHTS)
    assert total(dict.fromkeys(WEIGHTS, 0.0)) == 0


class Units:
    def __init__(self) -> None:
        self.units: dict[UUID, Unit] = {}
        self.asked: list[int] = []

    async def units_by_id(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, Unit]:
        self.asked.append(len(ids))
        return {each: self.units[each] for each in ids if each in self.units}

    def add(self, name: str, speaker: str) -> RowRef:
        document = keyed_document_id("acme", name)
        unit = Unit(passage_id(document, 0), document, 1, "talk", Kind.PASSAGE, 0, "I know.", location=Location(speaker=speaker))
        self.units[unit.id] = unit
        return RowRef(row_key(unit.id, 1), unit.id, document, 1, "talk", Kind.PASSAGE, document, 0)


async def test_a_turn_is_read_once_and_what_is_no_turn_too() -> None:
    units = Units()
    turn, page = units.add("turn", "Mara"), units.add("page", "")
    reader = TurnReader(units)  # type: ignore[arg-type]  # the part that is read here
    assert list(await reader.read("acme", [turn, page])) == [turn.key]
    assert list(await reader.read("acme", [page, turn])) == [turn.key]
    assert units.asked == [2]
    await reader.read("globex", [turn])
    assert units.asked == [2, 1], "tenants share nothing"


async def test_a_row_that_is_known_to_be_no_turn_is_not_read() -> None:
    units = Units()
    page, turn = units.add("page", ""), units.add("turn", "Mara")
    reader = TurnReader(units)  # type: ignore[arg-type]  # the part that is read here
    assert list(await reader.read("acme", [page._replace(is_turn=False), turn._replace(is_turn=True)])) == [turn.key]
    assert units.asked == [1]


async def test_only_so_many_are_remembered() -> None:
    units = Units()
    rows = [units.add(f"turn {number}", "Mara") for number in range(4)]
    reader = TurnReader(units, kept=2)  # type: ignore[arg-type]  # the part that is read here
    assert len(await reader.read("acme", rows)) == 4, "what is asked for is answered in full"
    await reader.read("acme", rows[2:])
    await reader.read("acme", rows[:1])
    assert units.asked == [4, 1]
