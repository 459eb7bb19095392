from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from eunoe.v1 import admin_pb2
from eunoe_contracts.errors import InvalidField, PermissionDenied, StorageFull, TokenNotFound, Unauthenticated
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.protobuf import timestamp
from eunoe_gateway.tokens import Tokens, fresh_secret
from eunoe_stores.catalogue.rows import TokenRow
from eunoe_telemetry.testing import ManualClock, SequentialIds

ADMIN = Principal("t1", frozenset({Scope.ADMIN}))
OPERATOR = Principal("default", frozenset(Scope), local_operator=True)


class TokenTable:
    """`TokenCatalogue` in a dict."""

    def __init__(self) -> None:
        self.rows: dict[str, TokenRow] = {}
        self.touches = 0
        self.full = False

    async def add_token(self, token: TokenRow, *, secret_hash: str) -> None:
        self.rows[secret_hash] = token

    async def token_by_hash(self, secret_hash: str) -> TokenRow | None:
        return self.rows.get(secret_hash)

    async def tokens(self, tenant: str | None) -> list[TokenRow]:
        return [each for each in self.rows.values() if tenant in {None, each.tenant}]

    async def revoke_token(self, tenant: str | None, token_id: str, *, now: datetime) -> TokenRow:
        for secret_hash, row in self.rows.items():
            if row.id == token_id and tenant in {None, row.tenant}:
                self.rows[secret_hash] = replace(row, revoked_at=row.revoked_at or now)
                return self.rows[secret_hash]
        raise TokenNotFound

    async def touch_token(self, token_id: str, *, now: datetime) -> None:
        if self.full:
            raise StorageFull
        self.touches += 1
        for secret_hash, row in self.rows.items():
            if row.id == token_id:
                self.rows[secret_hash] = replace(row, last_used_at=now)


class Office:
    def __init__(self, *, api_token: str = "", operator_token: str = "", require_auth: bool = False) -> None:
        self.table, self.clock = TokenTable(), ManualClock()
        self.tokens = Tokens(
            self.table,
            clock=self.clock,
            ids=SequentialIds(),
            api_token=api_token,
            operator_token=operator_token,
            operator_secret="the-operator",
            require_auth=require_auth,
        )

    async def new(self, *scopes: str, who: Principal = ADMIN, lives_s: float = 0, tenant: str = "") -> tuple[str, str]:
        request = admin_pb2.CreateTokenRequest(name="x", scopes=scopes, tenant=tenant)
        if lives_s:
            request.expires_at.CopyFrom(timestamp(self.clock.now() + timedelta(seconds=lives_s)))
        made = await self.tokens.create(who, request)
        return made.token.id, made.secret


def test_secrets_are_prefixed_random_and_long() -> None:
    secrets = {fresh_secret() for _ in range(50)}
    assert len(secrets) == 50
    assert all(each.startswith("eun_") and len(each) == 47 for each in secrets)


@pytest.mark.parametrize(
    ("api_token", "require_auth", "loopback", "allowed"),
    [("", False, True, True), ("", False, False, False), ("x", False, True, False), ("", True, True, False)],
)
async def test_anonymous_only_on_loopback_without_a_token(api_token: str, *, require_auth: bool, loopback: bool, allowed: bool) -> None:
    office = Office(api_token=api_token, require_auth=require_auth)
    if allowed:
        assert (await office.tokens.authenticate("", loopback=loopback)).tenant == "default"
    else:
        with pytest.raises(Unauthenticated):
            await office.tokens.authenticate("", loopback=loopback)


async def test_the_fixed_token_and_the_operator() -> None:
    office = Office(api_token="fixed")
    fixed = await office.tokens.authenticate("fixed", loopback=False)
    assert (fixed.tenant, fixed.may(Scope.ADMIN), fixed.local_operator) == ("default", True, False)
    assert (await office.tokens.authenticate("the-operator", loopback=False)).local_operator
    with pytest.raises(Unauthenticated):
        await office.tokens.authenticate("fixe", loopback=True)


async def test_a_fixed_token_of_the_operator_makes_tokens_for_every_tenant_and_ends_anonymous_calls() -> None:
    office = Office(operator_token="from-the-settings")
    who = await office.tokens.authenticate("from-the-settings", loopback=False)
    assert who.local_operator
    _, secret = await office.new("ingest", who=who, tenant="t9")
    assert (await office.tokens.authenticate(secret, loopback=False)).tenant == "t9"
    assert (await office.tokens.authenticate("the-operator", loopback=False)).local_operator
    for wrong in ("", "from-the-setting"):
        with pytest.raises(Unauthenticated):
            await office.tokens.authenticate(wrong, loopback=True)


async def test_a_token_has_the_scopes_and_the_tenant_it_was_made_with() -> None:
    office = Office()
    _, secret = await office.new("search")
    who = await office.tokens.authenticate(secret, loopback=False)
    assert (who.tenant, who.scopes) == ("t1", {Scope.SEARCH})
    assert not who.may(Scope.INGEST)
    assert secret not in repr(office.table.rows)


async def test_expiry_and_revocation_work_at_once() -> None:
    office = Office()
    _, short = await office.new("ingest", lives_s=10)
    identifier, revoked = await office.new("ingest")
    await office.tokens.authenticate(short, loopback=False)
    office.clock.advance(10)
    with pytest.raises(Unauthenticated, match="expired"):
        await office.tokens.authenticate(short, loopback=False)
    first = await office.tokens.revoke(ADMIN, identifier)
    office.clock.advance(5)
    assert (await office.tokens.revoke(ADMIN, identifier)).token.revoked_at == first.token.revoked_at
    with pytest.raises(Unauthenticated, match="revoked"):
        await office.tokens.authenticate(revoked, loopback=True)


async def test_the_last_use_is_coarse_and_given_up_on_a_full_disk() -> None:
    office = Office()
    _, secret = await office.new("search")
    for _ in range(3):
        await office.tokens.authenticate(secret, loopback=False)
    assert office.table.touches == 1
    office.clock.advance(61)
    office.table.full = True
    await office.tokens.authenticate(secret, loopback=False)


async def test_who_may_make_tokens_for_whom() -> None:
    office = Office()
    for scope in (Scope.SEARCH, Scope.INGEST):
        with pytest.raises(PermissionDenied):
            await office.new("search", who=Principal("t1", frozenset({scope})))
    with pytest.raises(PermissionDenied):
        await office.new("search", tenant="other")
    _, secret = await office.new("search", who=OPERATOR, tenant="other")
    assert (await office.tokens.authenticate(secret, loopback=False)).tenant == "other"
    own, every = await office.tokens.list(ADMIN), await office.tokens.list(OPERATOR)
    assert (len(own.tokens), len(every.tokens)) == (0, 1)
    with pytest.raises(TokenNotFound):
        await office.tokens.revoke(ADMIN, every.tokens[0].id)


@pytest.mark.parametrize("scopes", [(), ("root",), ("search", "root")])
async def test_unknown_scopes_are_refused(scopes: tuple[str, ...]) -> None:
    with pytest.raises(InvalidField, match="scopes"):
        await Office().new(*scopes)


async def test_an_expiry_in_the_past_is_refused() -> None:
    with pytest.raises(InvalidField, match="expires_at"):
        await Office().new("search", lives_s=-1)
