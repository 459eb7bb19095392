"""Who is calling: the operator, the fixed API token, or a stored token (hashed, scoped, expiring, revocable)."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from eunoe.v1 import admin_pb2
from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import InvalidField, PermissionDenied, TransientError, Unauthenticated
from eunoe_contracts.tenancy import DEFAULT_TENANT, Principal, Scope, checked_tenant
from eunoe_stores.catalogue.port import TokenCatalogue
from eunoe_stores.catalogue.rows import TokenRow

from eunoe_gateway import fields, protobuf
from eunoe_gateway.access import require

ALL_SCOPES = frozenset(Scope)
PREFIX = "eun_"
TOUCH_EVERY = timedelta(minutes=1)


def fresh_secret() -> str:
    """A random secret of 256 bits, prefixed so that leak scanners can find it."""
    return PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")


def secret_hash(secret: str) -> str:
    """What is stored of a secret. A plain hash is enough: the secret has 256 bits of its own."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """Authentication and the calls on tokens."""

    def __init__(
        self,
        catalogue: TokenCatalogue,
        *,
        clock: Clock,
        ids: Ids,
        api_token: str,
        operator_token: str,
        operator_secret: str,
        require_auth: bool,
        new_secret: Callable[[], str] = fresh_secret,
    ) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._ids = ids
        self._api_hash = secret_hash(api_token) if api_token else ""
        self._operator_hashes = [secret_hash(each) for each in (operator_secret, operator_token) if each]
        self._anonymous = not (api_token or operator_token or require_auth)
        self._new_secret = new_secret

    async def authenticate(self, secret: str, *, loopback: bool) -> Principal:
        """The principal of a secret. Without one: anonymous with all scopes, on loopback and when no token was configured."""
        if not secret:
            if loopback and self._anonymous:
                return Principal(DEFAULT_TENANT, ALL_SCOPES, "anonymous")
            raise Unauthenticated
        given = secret_hash(secret)
        if any(hmac.compare_digest(given, each) for each in self._operator_hashes):
            return Principal(DEFAULT_TENANT, ALL_SCOPES, "operator", local_operator=True)
        if self._api_hash and hmac.compare_digest(given, self._api_hash):
            return Principal(DEFAULT_TENANT, ALL_SCOPES, "api")
        found = await self._catalogue.token_by_hash(given)
        now = self._clock.now()
        if found is None:
            raise Unauthenticated("This API token is not known.")
        if found.revoked_at is not None:
            raise Unauthenticated("This API token was revoked.")
        if found.expires_at is not None and found.expires_at <= now:
            raise Unauthenticated("This API token has expired.")
        await self._touch(found, now)
        return Principal(found.tenant, found.scopes, token_id=found.id)

    async def _touch(self, token: TokenRow, now: datetime) -> None:
        if token.last_used_at is not None and now - token.last_used_at < TOUCH_EVERY:
            return
        # Reading must go on while the disk is full, so a note of the last use is given up then.
        with contextlib.suppress(TransientError):
            await self._catalogue.touch_token(token.id, now=now)

    async def create(self, who: Principal, request: admin_pb2.CreateTokenRequest) -> admin_pb2.CreateTokenResponse:
        """A new token; the secret is in this answer only."""
        tenant = require(who, Scope.ADMIN)
        if request.tenant and request.tenant != tenant:
            if not who.local_operator:
                raise PermissionDenied("Only the operator may create a token for another tenant.")
            tenant = checked_tenant(request.tenant)
        now = self._clock.now()
        expires_at = fields.time(request.expires_at, "expires_at") if request.HasField("expires_at") else None
        if expires_at is not None and expires_at <= now:
            raise InvalidField("expires_at: must be in the future")
        row = TokenRow(
            id=self._ids.new(),
            tenant=tenant,
            name=fields.line(request.name, "name", limit=fields.MAX_TAG_LENGTH),
            scopes=_scopes(request.scopes),
            created_at=now,
            expires_at=expires_at,
            revoked_at=None,
            last_used_at=None,
        )
        secret = self._new_secret()
        await self._catalogue.add_token(row, secret_hash=secret_hash(secret))
        return admin_pb2.CreateTokenResponse(token=protobuf.token(row), secret=secret)

    async def list(self, who: Principal) -> admin_pb2.TokensResponse:
        """Tokens of the caller's tenant, of all for the operator."""
        rows = await self._catalogue.tokens(self._reach(who))
        return admin_pb2.TokensResponse(tokens=[protobuf.token(each) for each in rows])

    async def revoke(self, who: Principal, token_id: str) -> admin_pb2.RevokeTokenResponse:
        """Effective with the next call. Raises `TokenNotFound`."""
        row = await self._catalogue.revoke_token(self._reach(who), token_id, now=self._clock.now())
        return admin_pb2.RevokeTokenResponse(token=protobuf.token(row))

    def _reach(self, who: Principal) -> str | None:
        tenant = require(who, Scope.ADMIN)
        return None if who.local_operator else tenant


def _scopes(names: Sequence[str]) -> frozenset[Scope]:
    known = {each.value for each in Scope}
    unknown = sorted(set(names) - known)
    if unknown or not names:
        raise InvalidField(f"scopes: one or more of {', '.join(sorted(known))}")
    return frozenset(Scope(each) for each in names)
