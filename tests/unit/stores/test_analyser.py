from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from eunoe_stores.analyser import MAX_QUERY_TOKENS, MAX_TOKEN_LENGTH, analyse, analyse_query
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("What did Caroline's friends do in Paris?", ["carolin", "friend", "pari"]),
        ("Running runners ran", ["run", "runner", "ran"]),
        ("They weren't there; I'll be in Rome, don\u2019t", ["rome"]),
        ("1,250.50 EUR, 3.14 and 2024-05-01", ["1250", "50", "eur", "3", "14", "2024", "05", "01"]),
        ("Café Übergrößen Ångström", ["cafe", "ubergrossen", "angstrom"]),
        ("\uff21\uff22\uff23 \ufb01ne", ["abc", "fine"]),
        ("snake_case x86_64", ["snake", "case", "x86", "64"]),
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("GPU在訓練", ["gpu", "在訓", "訓練"]),
        ("한국어 검색", ["한국", "국어", "검색"]),
        ("Москва ёлка", ["москва", "елка"]),
        ("مَرْحَبًا بالعالم", ["مرحبا", "بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ง่าย", ["ง่า", "าย"]),
        ("\U0001f600 -- !", []),
    ],
)
def test_tokens_of_many_scripts(text: str, tokens: list[str]) -> None:
    assert analyse(text) == tokens


def test_a_text_of_stop_words_only_keeps_them_for_both_sides() -> None:
    assert analyse("The Who") == analyse_query("the who") == ["the", "who"]


def test_query_and_text_agree_on_forms() -> None:
    assert set(analyse_query("How are the batteries charged?")) <= set(analyse("Charging a battery"))


def test_thousands_separator_is_the_same_number() -> None:
    assert analyse("1,000,000") == analyse("1000000")


def test_long_tokens_and_long_queries_are_cut() -> None:
    assert [len(token) for token in analyse("a1" * 500)] == [MAX_TOKEN_LENGTH]
    assert len(analyse_query("zebra " * 5000)) == MAX_QUERY_TOKENS


@given(st.text(max_size=200))
def test_any_text_gives_short_tokens_without_separators(text: str) -> None:
    for token in analyse(text):
        assert 0 < len(token) <= MAX_TOKEN_LENGTH
        assert not set(token) & set(" \t\n~:\"'*()-_\x00")


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "Nd"]), max_size=60))
def test_case_does_not_matter_to_ascii(text: str) -> None:
    if text.isascii():
        assert analyse(text.upper()) == analyse(text.lower())


def test_threads_do_not_disturb_each_other() -> None:
    texts = [f"running{number} generalisations connection{number} happily" for number in range(300)]
    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(analyse, texts))
    assert first == [analyse(text) for text in texts]
