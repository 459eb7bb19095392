from __future__ import annotations

import pytest
from eunoe_safety.charset import decode
from hypothesis import given
from hypothesis import strategies as st

RUSSIAN = "Однажды, в студеную зимнюю пору, я из лесу вышел; был сильный мороз."
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
GERMAN = "Die schöne Frau hat einen Käse-Kuchen für die Gäste gegessen: „gut“."


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "cp866"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc-jp"),
        (GERMAN, "cp1252"),
        (GERMAN, "utf-8"),
    ],
)
def test_guessed(text: str, codec: str):
    assert decode((text * 3).encode(codec)).text == text * 3


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Le café est fermé le dimanche.", "cp1252"),
        ("Der Käse liegt auf dem Tisch.", "cp1252"),
        ("El niño come una piña.", "cp1252"),
        ("São Paulo não pára.", "cp1252"),
        ("Książka leży na stole, a kot śpi pod łóżkiem. Jutro będzie słońce.", "cp1250"),
        ("Un œuf à la coque, s\u2019il vous plaît.", "cp1252"),
    ],
)
def test_a_short_text_with_accents_is_latin(text: str, codec: str):
    assert decode(text.encode(codec)).text == text


def test_a_few_words_of_another_script_among_latin_ones_are_not_taken_for_accents():
    text = "The capital of Russia, Москва, lies on a river of the same name; the Russians say столица."
    assert decode(text.encode("cp1251")).text == text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark_is_believed_and_dropped(codec: str):
    assert decode(GERMAN.encode(codec), declared="cp1252").text == GERMAN


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_mark(codec: str):
    assert decode(GERMAN.encode(codec)).text == GERMAN


def test_declared_charset_is_believed_when_it_decodes():
    assert decode(GERMAN.encode("cp1252"), declared="iso-8859-1").text == GERMAN
    assert decode(RUSSIAN.encode("utf-8"), declared="us-ascii").text == RUSSIAN
    assert decode(GERMAN.encode(), declared="no-such-charset").text == GERMAN


def test_meta_is_believed_in_markup_only():
    page = b'<meta charset="koi8-r">' + RUSSIAN.encode("koi8-r")
    assert decode(page, markup=True).codec == "koi8-r"
    assert RUSSIAN in decode(page, markup=True).text
    lying = b'<meta charset="utf-16">' + RUSSIAN.encode()
    assert RUSSIAN in decode(lying, markup=True).text


def test_damaged_utf8_keeps_the_rest_and_warns():
    found = decode((GERMAN * 5).encode()[:-1] + b"\xe2")
    assert "schöne" in found.text
    assert "could not be decoded" in found.warning


@given(st.binary(max_size=300))
def test_never_fails(data: bytes):
    decode(data)
    decode(data, declared="utf-7", markup=True)


@given(st.text(max_size=200).filter(lambda text: "\0" not in text and not text.startswith("\ufeff")))
def test_utf8_round_trip(text: str):
    assert decode(text.encode()).text == text
