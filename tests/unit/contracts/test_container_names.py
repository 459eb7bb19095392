"""Names of containers: dot paths of anything that can be read; what cannot be seen is refused, since two names would look the same."""

from __future__ import annotations

import pytest
from eunoe_contracts.errors import InvalidField
from eunoe_contracts.tenancy import MAX_CONTAINER_LENGTH, checked_container, container_segment


@pytest.mark.parametrize(
    "name",
    [
        "notes",
        "team.agent1",
        "my-agent",
        "a/b c",
        "what's new!",
        "Größe.2024",
        "项目.资料",
        "می‌خواهم",
        "👩‍💻.notes",
        "x" * MAX_CONTAINER_LENGTH,
    ],
)
def test_what_can_be_read_is_a_name(name: str) -> None:
    assert checked_container(name) == name


@pytest.mark.parametrize("foreign", ["anna@example.org", "a.b*c", " tab\t and space ", "zero\u200bwidth", "日本"])
def test_any_foreign_id_makes_a_segment(foreign: str) -> None:
    segment = container_segment(foreign)
    assert checked_container(f"om.{segment}") == f"om.{segment}"
    assert "." not in segment


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "empty"),
        ("x" * (MAX_CONTAINER_LENGTH + 1), "at most 255 characters"),
        ("a..b", "empty segment"),
        (".a", "empty segment"),
        ("a.", "empty segment"),
        ("team.*", r"'\*'"),
        (" team", "space"),
        ("team ", "space"),
        ("team. notes", "space"),
        (" ", "space"),
        ("a\nb", r"U\+000A"),
        ("a\x7fb", r"U\+007F"),
        ("a\x85b", r"U\+0085"),
        ("a\u00a0b", r"U\+00A0"),
        ("a\u200bb", r"U\+200B"),
        ("a\u202eb", r"U\+202E"),
        ("a\u2028b", r"U\+2028"),
        ("a\ufeffb", r"U\+FEFF"),
        ("a\ud800b", r"U\+D800"),
        ("a\u200d.b", r"U\+200D"),
        ("\u200ca", r"U\+200C"),
    ],
)
def test_the_rest_is_refused_and_the_message_says_why(name: str, said: str) -> None:
    with pytest.raises(InvalidField, match=f"container: .*{said}"):
        checked_container(name)
