"""Names by rules."""

from __future__ import annotations

import pytest
from eunoe_contracts.names import MOST_NAMES, main_names, mention_form, mentionable_names
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("However, Tim Burton met Johnny Depp in Paris on Monday.", ["Tim Burton", "Johnny Depp", "Paris"]),
        ("He read The Lord of the Rings twice.", ["Lord of the Rings"]),
        ('She cited "the long way round" and report-2024.pdf.', ["the long way round", "report-2024"]),
        ("See [the manual](https://example.org/x) or [[Style guide|here]].", ["Style", "the manual", "Style guide"]),
        ("\u5f7c\u306f\u300a\u4e09\u4f53\u300b\u3092\u8aad\u3093\u3060", ["\u4e09\u4f53"]),
        ("the quick brown fox", []),
    ],
)
def test_main_names(text: str, expected: list[str]):
    assert main_names(text) == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Director Tim Burton Junior came.", "Tim Burton"),
        ("Shirley Temple starred in A Kiss for Corliss.", "A Kiss for Corliss"),
        ("It was filmed like Kiss and Tell.", "Kiss and Tell"),
        ("As the Kafka notes say.", "Kafka notes"),
        ("The Great Gatsby is short.", "The Great Gatsby"),
    ],
)
def test_titles_are_found_inside_and_around_names(text: str, title: str):
    assert title in dict(mentionable_names(text))


@pytest.mark.parametrize(
    ("title", "form"),
    [("Ed Wood (film)", "Ed Wood"), ("Notes", ""), ("Kafkas", "Kafkas"), ("My notes", "My notes"), ("", "")],
)
def test_mention_form(title: str, form: str):
    assert mention_form(title) == form


@given(st.text(max_size=500))
def test_names_are_bounded_and_the_same_every_time(text: str):
    names = mentionable_names(text)
    assert len(names) <= MOST_NAMES
    assert names == mentionable_names(text)
    assert all(name.strip() for name, _ in names)
    assert [name for name, is_main in names if is_main] == main_names(text)
    assert mentionable_names(text, most=3) == names[:3]
