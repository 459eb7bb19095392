"""Counting and cutting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eunoe_contracts.errors import ModelMissing
from eunoe_models.embedding.characters import CharacterCounter
from eunoe_models.embedding.port import TokenCounter
from eunoe_models.embedding.spans import PIECE, SpanCounter
from eunoe_models.embedding.wordpiece import WordPiece
from eunoe_models.testing import word_spans
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "token", "##iser", "##s", "cuts", ".", "a", "##b", "##a", "\u5b57"]


@pytest.fixture(scope="module")
def tokeniser(tmp_path_factory: pytest.TempPathFactory) -> WordPiece:
    vocabulary = {word: number for number, word in enumerate(VOCABULARY)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    made.enable_truncation(8)
    made.enable_padding(length=8)
    path = tmp_path_factory.mktemp("tokeniser") / "tokenizer.json"
    made.save(str(path))
    assert json.loads(path.read_text())["padding"]
    return WordPiece(path, max_length=12)


def test_ids_are_cut_to_the_models_length_and_not_padded(tokeniser: WordPiece) -> None:
    assert tokeniser.ids("the tokenisers cuts.") == [2, 4, 5, 6, 7, 8, 9, 3]
    assert len(tokeniser.ids("the " * 500)) == 12
    assert tokeniser.ids("") == [2, 3]


def test_counts_leave_out_special_tokens(tokeniser: WordPiece) -> None:
    counter = tokeniser.counter()
    assert counter.window == 10
    assert counter.count("the tokenisers cuts.") == 6
    assert counter.count("the [SEP] cuts") == 3
    assert counter.count("") == counter.count(" \n\t") == 0
    assert counter.count("\u5b57" * 7) == 7


def test_a_cut_keeps_words_whole(tokeniser: WordPiece) -> None:
    counter = tokeniser.counter()
    text = "the tokenisers cuts. the"
    assert [text[: counter.cut(text, tokens)] for tokens in range(8)] == [
        "", "the", "the", "the", "the tokenisers", "the tokenisers", "the tokenisers cuts.", text,
    ]  # fmt: skip
    assert [text[counter.cut_tail(text, tokens) :] for tokens in range(5)] == ["", "the", "the", "cuts. the", "cuts. the"]
    assert counter.cut("tokenisers", 2) == len("tokeniser")
    assert counter.cut_tail(text, 7) == 0


def test_a_run_without_white_space_is_counted_by_its_characters(tokeniser: WordPiece) -> None:
    counter = tokeniser.counter()
    blob = "the " + "f" * 1000
    assert counter.count(blob) == 1001
    assert counter.cut(blob, 10) == 13
    assert counter.cut_tail(blob, 10) == len(blob) - 10


@given(text=st.text(alphabet="ab. \u5b57\u0301\x1c\x00f\n", max_size=400))
def test_the_fast_count_is_the_number_of_spans(tokeniser: WordPiece, text: str) -> None:
    counter = tokeniser.counter()
    for each in (text, text.replace(" ", "").replace("\n", "")):
        assert counter.count(each) == len(counter._spans(each))


def test_a_missing_tokeniser_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="eunoe models pull"):
        WordPiece(tmp_path / "tokenizer.json", max_length=8)


def test_long_texts_are_counted_in_pieces() -> None:
    counter = SpanCounter(word_spans, window=10)
    text = "word " * (PIECE // 2)
    assert counter.count(text) == PIECE // 2


def test_characters_count_four_to_a_token() -> None:
    counter = CharacterCounter()
    assert (counter.window, counter.count(""), counter.count("abcde"), counter.count("a" * 8)) == (500, 0, 2, 2)
    assert counter.cut("one two three four", 4) == len("one two three")
    assert counter.cut_tail("one two three four", 3) == len("one two ")


TEXT = st.one_of(st.text(max_size=300), st.text(alphabet="ab. \u5b57\u0301f", max_size=400))


@given(text=TEXT, tokens=st.integers(0, 40), kind=st.sampled_from(["words", "wordpiece", "characters"]))
def test_cuts_fit_and_what_fits_is_not_cut(tokeniser: WordPiece, text: str, tokens: int, kind: str) -> None:
    counters: dict[str, TokenCounter] = {
        "words": SpanCounter(word_spans, window=10),
        "wordpiece": tokeniser.counter(),
        "characters": CharacterCounter(),
    }
    counter = counters[kind]
    end, start = counter.cut(text, tokens), counter.cut_tail(text, tokens)
    assert counter.count(text[:end]) <= tokens
    assert counter.count(text[start:]) <= tokens
    if counter.count(text) <= tokens:
        assert (end, start) == (len(text), 0)
    elif tokens:
        assert end > 0
