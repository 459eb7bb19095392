from __future__ import annotations

from datetime import timedelta

import pytest
from eunoe_contracts.errors import TokenNotFound
from eunoe_contracts.tenancy import Scope
from eunoe_stores.catalogue.rows import TokenRow
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import NOON, TENANT

LATER = NOON + timedelta(hours=1)


def token(name: str, tenant: str = TENANT, minutes: int = 0) -> TokenRow:
    created = NOON + timedelta(minutes=minutes)
    return TokenRow(name, tenant, f"token {name}", frozenset({Scope.SEARCH, Scope.INGEST}), created, LATER, None, None)


async def test_tokens(catalogue: SqlCatalogue):
    first, second, other = token("a"), token("b", minutes=1), token("c", "other")
    for one in (first, second, other):
        await catalogue.add_token(one, secret_hash=f"hash-{one.id}")
    assert await catalogue.token_by_hash("hash-a") == first
    assert await catalogue.token_by_hash("unknown") is None
    assert await catalogue.tokens(TENANT) == [second, first]
    assert len(await catalogue.tokens(None)) == 3


async def test_revoking_keeps_the_first_time(catalogue: SqlCatalogue):
    await catalogue.add_token(token("a"), secret_hash="h")
    assert (await catalogue.revoke_token(TENANT, "a", now=NOON)).revoked_at == NOON
    assert (await catalogue.revoke_token(None, "a", now=LATER)).revoked_at == NOON
    found = await catalogue.token_by_hash("h")
    assert found is not None
    assert found.revoked_at == NOON
    for tenant, id_ in (("other", "a"), (TENANT, "unknown")):
        with pytest.raises(TokenNotFound):
            await catalogue.revoke_token(tenant, id_, now=NOON)


async def test_touch(catalogue: SqlCatalogue):
    await catalogue.add_token(token("a"), secret_hash="h")
    await catalogue.touch_token("a", now=LATER)
    assert (await catalogue.tokens(TENANT))[0].last_used_at == LATER


async def test_notes(catalogue: SqlCatalogue):
    assert await catalogue.note("model") is None
    await catalogue.put_note("model", "minilm")
    await catalogue.put_note("model", "other")
    assert await catalogue.note("model") == "other"


async def test_close_twice(catalogue: SqlCatalogue):
    await catalogue.close()
    await catalogue.close()
