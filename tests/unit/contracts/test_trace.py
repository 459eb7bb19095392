from __future__ import annotations

import pytest
from eunoe_contracts.trace import Trace, parse

ID, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize("flags", ["00", "01"])
def test_round_trip(flags: str) -> None:
    text = f"00-{ID}-{PARENT}-{flags}"
    found = parse(f" {text} ")
    assert found is not None
    assert (found.id, found.parent, str(found)) == (ID, PARENT, text)
    assert str(found.step("1" * 16)) == f"00-{ID}-{'1' * 16}-{flags}"


def test_unknown_flags_and_later_versions_are_taken_as_far_as_they_are_known() -> None:
    assert parse(f"cc-{ID}-{PARENT}-ff-what-the-future-holds") == Trace(ID, PARENT)
    assert parse(f"00-{ID}-{PARENT}-fe") == Trace(ID, PARENT, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        f"00-{ID}-{PARENT}",
        f"00-{ID}-{PARENT}-01-more",
        f"ff-{ID}-{PARENT}-01",
        f"00-{ID.upper()}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{ID}-{'0' * 16}-01",
        f"00-{ID}-{PARENT}-0x",
        f"cc-{ID}-{PARENT}-01more",
    ],
)
def test_what_is_not_one_is_ignored(text: str) -> None:
    assert parse(text) is None
