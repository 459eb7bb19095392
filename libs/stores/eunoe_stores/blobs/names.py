"""Which names may become paths. Everything that reaches the file system passes here first."""

from __future__ import annotations

import re

from eunoe_contracts.errors import InvalidField
from eunoe_contracts.tenancy import checked_tenant

from eunoe_stores.blobs.port import BlobKey

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z")

__all__ = ["checked_key", "checked_tenant", "checked_upload"]


def checked_key(key: BlobKey) -> BlobKey:
    """The key itself; `InvalidField` when its name is not 1 to 200 of letters, digits, `.`, `_`, `-`, or the generation negative."""
    if not _NAME.match(key.name):
        raise InvalidField("blob name: use letters, digits, '.', '_' or '-', a letter or digit first, at most 200")
    if key.generation < 0:
        raise InvalidField("generation: must not be negative")
    return key


def checked_upload(upload_id: str) -> str:
    """The upload id itself, or `InvalidField`; the rule is that of blob names."""
    if not _NAME.match(upload_id):
        raise InvalidField("upload id: use letters, digits, '.', '_' or '-', a letter or digit first, at most 200")
    return upload_id
