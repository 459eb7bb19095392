from __future__ import annotations

import pytest
from eunoe_contracts.errors import ConfigurationError
from eunoe_process.listening import Address
from eunoe_process.secret import call_metadata, checked_secret, is_one_of_us

SECRET = "s" * 32
NEAR, FAR = Address("127.0.0.1", 1), Address("embedder", 50052)


def test_beyond_this_machine_a_secret_is_needed() -> None:
    assert checked_secret("", [NEAR]) == ""
    assert checked_secret(SECRET, [NEAR, FAR]) == SECRET
    with pytest.raises(ConfigurationError, match=r"EUNOE_INTERNAL__SECRET is not set, and embedder:50052 .*openssl rand"):
        checked_secret("", [NEAR, FAR])


def test_a_short_secret_is_none() -> None:
    with pytest.raises(ConfigurationError, match="at least 16"):
        checked_secret("short", [])


def test_who_is_let_in() -> None:
    ((_, given),) = call_metadata(SECRET)
    assert is_one_of_us(given, SECRET)
    assert not is_one_of_us("", SECRET)
    assert not is_one_of_us(f"{given}x", SECRET)
    assert not is_one_of_us("Bearer ä", SECRET)
    assert is_one_of_us("", "")
    assert call_metadata("") == ()
