"""Names that Weaviate takes, made of ours."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from eunoe_contracts.content import Scalar
from eunoe_contracts.tenancy import checked_tenant

_ESCAPES = {"%": "%25", "*": "%2A", "?": "%3F"}
_ESCAPING = str.maketrans(_ESCAPES)
_DIGEST = 16


@lru_cache(maxsize=4096)
def tenant_shard(tenant: str) -> str:
    """The tenant in Weaviate, where it names a folder. `Acme` and `acme` are two also on disks that do not tell cases apart."""
    return "t" + hashlib.sha256(checked_tenant(tenant).encode()).hexdigest()[: 2 * _DIGEST]


def escaped(container: str) -> str:
    """A container without the characters that are wildcards in a filter, which has no escape for them. Prefixes stay prefixes."""
    return container.translate(_ESCAPING)


def unescaped(container: str) -> str:
    """The container that was escaped."""
    for character, escape in reversed(_ESCAPES.items()):
        container = container.replace(escape, character)
    return container


def tag_token(tag: str) -> str:
    """A tag as a filterable value. A hash, since Weaviate trims values and does not index long ones."""
    return _digest(tag)


def attribute_token(name: str, value: Scalar) -> str:
    """An attribute as a filterable value. 1 and 1.0 are the same, True and 1 are not."""
    number = isinstance(value, float) and value.is_integer()
    return _digest([name, int(value) if number else value])  # type: ignore[arg-type]  # a float, see above


def _digest(value: object) -> str:
    canonical = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), digest_size=_DIGEST).hexdigest()
