"""Memories by rules: what is found, what is left alone, and that every span is literal."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from eunoe_contracts.content import Kind, Location, Memory, Unit
from eunoe_contracts.identity import passage_id
from eunoe_llm_extractor.backends.port import Source
from eunoe_llm_extractor.backends.rules import RulesProposer
from eunoe_llm_extractor.backends.rules.date import date_in
from eunoe_llm_extractor.backends.rules.sentence import sentences
from hypothesis import given
from hypothesis import strategies as st

DOCUMENT = UUID("00000000-0000-5000-8000-000000000001")
EVENT_TIME = datetime(2024, 5, 8, tzinfo=UTC)


def passages(*texts: str, speaker: str = "") -> list[Unit]:
    return [
        Unit(passage_id(DOCUMENT, at), DOCUMENT, 1, "notes", Kind.PASSAGE, at, text, location=Location(speaker=speaker))
        for at, text in enumerate(texts)
    ]


async def found(*texts: str, speaker: str = "", most: int = 50) -> list[Memory]:
    source = Source(DOCUMENT, 1, "notes", "Notes", passages(*texts, speaker=speaker), event_time=EVENT_TIME)
    return list(await RulesProposer(most=most).propose("default", source))


@pytest.mark.parametrize(
    ("text", "kind", "tag", "statement"),
    [
        ("Please remember that the key is under the mat.", Kind.FACT, "explicit", "The key is under the mat."),
        ("Note: the office moves in June.", Kind.FACT, "explicit", "The office moves in June."),
        ("I really prefer tea to coffee.", Kind.PREFERENCE, "preference", "I really prefer tea to coffee."),
        ("I don't like loud places.", Kind.PREFERENCE, "preference", "I don't like loud places."),
        ("My favourite colour is green.", Kind.PREFERENCE, "preference", "My favourite colour is green."),
        ("Ann loves long walks.", Kind.PREFERENCE, "preference", "Ann loves long walks."),
        ("After a long talk we decided to use Kafka.", Kind.FACT, "decision", "After a long talk we decided to use Kafka."),
        ("Decision: ship on Friday.", Kind.FACT, "decision", "Decision: ship on Friday."),
        ("TODO: call the bank", Kind.TASK, "task", "Call the bank"),
        ("- [ ] buy some milk", Kind.TASK, "task", "Buy some milk"),
        ("Could you please remind me to water the plants.", Kind.TASK, "task", "Could you please remind me to water the plants."),
        ("The deadline for the paper is 3 June 2024.", Kind.TASK, "deadline", "The deadline for the paper is 3 June 2024."),
        ("Caroline's birthday is 8 May 1990.", Kind.FACT, "identity", "Caroline's birthday is 8 May 1990."),
        ("I work at Acme since last year.", Kind.FACT, "identity", "I work at Acme since last year."),
        ("Ed Wood was born on October 10, 1924.", Kind.FACT, "date", "Ed Wood was born on October 10, 1924."),
    ],
)
async def test_what_is_found(text: str, kind: Kind, tag: str, statement: str):
    (memory,) = await found(text)
    assert (memory.kind, memory.tags, memory.text) == (kind, (tag,), statement)
    assert memory.span in text
    assert 0 < memory.confidence <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Do you like tea?",
        "I'd like to go home now.",
        "I love it so much.",
        "The weather was fine and the sea was calm.",
        "It costs 20 euros.",
        "In 1924 there was a fire.",
        "Yes, I love to.",
        "Everyone we love was there.",
        "He was appointed on 6 June 2016.",
    ],
)
async def test_what_is_left_alone(text: str):
    assert await found(text) == []


async def test_the_speaker_is_named_in_a_first_person_statement():
    (memory,) = await found("I prefer tea.", speaker="Ann")
    assert memory.text == "Ann: I prefer tea."
    assert memory.span == "I prefer tea."


async def test_dates_in_the_text_win_over_the_event_time():
    (dated,) = await found("Caroline's birthday is 8 May 1990.")
    (undated,) = await found("I prefer tea.")
    assert dated.event_time == datetime(1990, 5, 8, tzinfo=UTC)
    assert undated.event_time == EVENT_TIME


async def test_the_same_statement_is_one_memory_and_rests_on_its_first_passage():
    (memory,) = await found("I prefer tea.", "I prefer  tea.")
    assert memory.unit == passage_id(DOCUMENT, 0)


async def test_a_long_document_gives_a_bounded_number_the_most_certain_first():
    texts = [f"Note: fact number {at} is true. I like thing number {at}." for at in range(60)]
    memories = await found(*texts, most=20)
    assert len(memories) == 20
    assert {memory.confidence for memory in memories} == {0.9}


async def test_entities_are_the_names_in_the_statement():
    (memory,) = await found("We decided to hire Grace Hopper from Acme.")
    assert [entity.name for entity in memory.entities] == ["Grace Hopper", "Acme"]


def test_a_date_outside_the_calendar_is_none():
    assert date_in("on 31 June 2024") is None
    assert date_in("on 2024-02-29") == datetime(2024, 2, 29, tzinfo=UTC)


def test_list_items_and_sentences_are_parts_of_their_own():
    text = "# Plan\n- buy milk today\n- call Dr. Smith again\n\nFirst we rest. Then we go on."
    assert list(sentences(text)) == ["buy milk today", "call Dr. Smith again", "First we rest.", "Then we go on."]


@given(st.text(max_size=400))
def test_sentences_are_literal(text: str):
    assert all(each in text for each in sentences(text))
