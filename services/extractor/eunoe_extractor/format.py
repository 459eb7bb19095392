"""The format of a document, verified again on the whole file: what was accepted must be what is read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from eunoe_contracts import formats
from eunoe_contracts.errors import FormatMismatch, ReadBackFailed
from eunoe_safety.sniffer import sniff_path


def verified_format(path: Path, *, accepted: str, name: str, media_type: str, sha256: str) -> str:
    """The accepted format id when the bytes agree with it. Between kinds of text the acceptance decides, as bytes cannot.

    Raises `ReadBackFailed` when these are not the bytes that were accepted, so that what a store cut off or garbled is read again and
    never indexed; `FormatMismatch`; also what `sniff_path` raises for a file that is empty, damaged or protected.
    """
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise ReadBackFailed("the stored bytes are not those that were accepted")
    found = sniff_path(path, name=name, declared=media_type)
    expected, actual = formats.BY_ID.get(accepted), formats.BY_ID.get(found.format_id or "")
    if expected is None or actual is None or (expected.id != actual.id and not (expected.textual and actual.textual)):
        raise FormatMismatch(f"accepted as {accepted}, but the content is {found.format_id or found.media_type}")
    return expected.id
