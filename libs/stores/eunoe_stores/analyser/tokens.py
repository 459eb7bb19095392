"""Cuts text into search tokens: words without stop words, stemmed; pairs of characters where a script writes no spaces."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from itertools import pairwise

from eunoe_stores.analyser.english import english_stemmer
from eunoe_stores.analyser.folding import fold
from eunoe_stores.analyser.stopwords import CONTRACTIONS, STOP_WORDS

ANALYSER_VERSION = "1"
"""Stored with every index; tokens of different versions must not be mixed."""

MAX_TOKEN_LENGTH = 40
"""Characters; longer tokens (keys, encoded data) are cut."""

MAX_QUERY_TOKENS = 256
"""A longer query is cut here, which bounds the work of one search."""

_HAN_KANA_HANGUL = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_SOUTH_EAST_ASIAN = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
_UNSPACED = re.compile(f"([{_HAN_KANA_HANGUL}]+|[{_SOUTH_EAST_ASIAN}]+)")
# A letter with the marks that belong to it.
_CLUSTER = re.compile(
    f"[{_HAN_KANA_HANGUL}]|.[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b6-\u17d3]*"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_INDIC_MARKS = (
    "\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03"
    "\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf\u0f71-\u0f84\u0f90-\u0fbc"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_INDIC_MARKS}])+(?:'(?:[^\W_]|[{_INDIC_MARKS}])+)*")
_ASCII_LETTERS = re.compile(r"[a-z]{3,}\Z")
_LOCAL = threading.local()


def _stemmed(word: str) -> str:
    """Snowball English ("Porter2", https://snowballstem.org) for words of ASCII letters; others as they are."""
    if not _ASCII_LETTERS.match(word):
        return word[:MAX_TOKEN_LENGTH]
    stemmer = getattr(_LOCAL, "stemmer", None)
    if stemmer is None:
        # One per thread: a stemmer keeps the word it works on in itself.
        stemmer = _LOCAL.stemmer = english_stemmer()
    return str(stemmer.stemWord(word[:MAX_TOKEN_LENGTH]))


@lru_cache(maxsize=1 << 16)  # some 250 bytes each
def _word_tokens(word: str) -> tuple[str, ...]:
    """Tokens of one folded word; none for a stop word."""
    if "'" not in word:
        return () if word in STOP_WORDS else (_stemmed(word),)
    joined = word.replace("'", "")
    if joined in CONTRACTIONS or joined in STOP_WORDS:
        return ()
    return tuple(_stemmed(part) for part in word.removesuffix("'s").split("'") if part not in STOP_WORDS)


def _pairs(run: str) -> list[str]:
    letters = _CLUSTER.findall(run)
    if len(letters) == 1:
        return letters
    return [first + second for first, second in pairwise(letters)]


def _tokens(folded: str) -> list[str]:
    if folded.isascii():
        return [token for word in _ASCII_WORD.findall(folded) for token in _word_tokens(word)]
    found: list[str] = []
    for index, part in enumerate(_UNSPACED.split(folded)):
        if index % 2:
            found += _pairs(part)
        elif part:
            found += [token for word in _WORD.findall(part) for token in _word_tokens(word)]
    return found


def analyse(text: str) -> list[str]:
    """Tokens of a text in order, repeats kept. Text made of stop words only keeps them, so that "The Who" can be found.

    Tokens hold letters, their marks and digits only. The same text gives the same tokens on every thread.
    """
    folded = fold(text)
    return _tokens(folded) or [word[:MAX_TOKEN_LENGTH] for word in _WORD.findall(folded.replace("'", ""))]


def analyse_part(text: str) -> list[str]:
    """Tokens of a part of a text that has tokens elsewhere, where stop words count for nothing. Parts are cut at white space."""
    return _tokens(fold(text))


def analyse_query(text: str) -> list[str]:
    """Tokens of a query, as `analyse` gives them, at most `MAX_QUERY_TOKENS`."""
    return analyse(text)[:MAX_QUERY_TOKENS]
