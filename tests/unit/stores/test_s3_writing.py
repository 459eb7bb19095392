"""A write whose folder another request took away in that moment is done again; other errors are not."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from eunoe_stores.blobs.s3.writing import TRIES, written
from minio.error import S3Error


def error(code: str) -> S3Error:
    return S3Error(Mock(), code, "", "", "", "")


def test_a_write_into_a_folder_that_was_just_removed_is_done_again() -> None:
    write = Mock(side_effect=[error("ExistingObjectIsDirectory"), error("ExistingObjectIsDirectory"), "etag"])
    assert written(write) == "etag"


def test_it_is_given_up_at_last() -> None:
    write = Mock(side_effect=error("ExistingObjectIsDirectory"))
    with pytest.raises(S3Error):
        written(write)
    assert write.call_count == TRIES


def test_other_errors_are_told_at_once() -> None:
    write = Mock(side_effect=error("AccessDenied"))
    with pytest.raises(S3Error):
        written(write)
    assert write.call_count == 1
