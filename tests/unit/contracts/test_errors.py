from __future__ import annotations

from collections import Counter

from eunoe_contracts import errors
from eunoe_contracts.errors import ContentError, EunoeError, TransientError, as_eunoe_error, error_type, error_types


def test_codes_are_unique() -> None:
    counts = Counter(each.code for each in error_types())
    assert [code for code, count in counts.items() if count > 1] == []


def test_every_class_says_its_message_and_has_a_status() -> None:
    for each in error_types():
        assert each.default_message().endswith("."), each
        assert 400 <= each.http_status < 600
        assert each().message == each.default_message()


def test_every_class_is_drawn_in_the_tree() -> None:
    drawing = errors.__doc__ or ""
    leaves_drawn_by_their_family = {"BlobNotFound"}
    missing = [each.__name__ for each in error_types() if each.__name__ not in drawing]
    assert set(missing) <= leaves_drawn_by_their_family


def test_retry_is_a_matter_of_type() -> None:
    assert all(each.retryable for each in error_types() if issubclass(each, TransientError))
    assert not any(each.retryable for each in error_types() if issubclass(each, ContentError))


def test_foreign_errors_name_only_their_type() -> None:
    found = as_eunoe_error(ValueError("secret content"))
    assert "secret" not in found.message
    assert found.code == "internal_error"
    assert as_eunoe_error(OSError(28, "no space")).code == "storage_full"
    assert as_eunoe_error(TimeoutError()).code == "deadline_exceeded"


def test_code_leads_back_to_the_class() -> None:
    assert error_type("empty_extraction").__name__ == "EmptyExtraction"
    assert issubclass(error_type("a code of the future"), EunoeError)
