"""API tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from eunoe_contracts.errors import TokenNotFound
from eunoe_contracts.tenancy import Scope
from sqlalchemy import Connection, Row, insert, select, update

from eunoe_stores.catalogue.rows import TokenRow
from eunoe_stores.catalogue.sql.part import SqlPart
from eunoe_stores.catalogue.tables import tokens

FIELDS = ("id", "tenant", "name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
SELECT = select(*(tokens.c[name] for name in FIELDS))


class SqlTokens(SqlPart):
    """`TokenCatalogue`."""

    async def add_token(self, token: TokenRow, *, secret_hash: str) -> None:
        """See `TokenCatalogue.add_token`."""
        values = {name: getattr(token, name) for name in FIELDS}
        values["scopes"] = sorted(scope.value for scope in token.scopes)
        await self._database.write(lambda connection: connection.execute(insert(tokens), {**values, "secret_hash": secret_hash}).close())

    async def token_by_hash(self, secret_hash: str) -> TokenRow | None:
        """See `TokenCatalogue.token_by_hash`."""
        statement = SELECT.where(tokens.c.secret_hash == secret_hash)

        def work(connection: Connection) -> TokenRow | None:
            row = connection.execute(statement).first()
            return None if row is None else _token(row)

        return await self._database.read(work, quick=True)

    async def tokens(self, tenant: str | None) -> Sequence[TokenRow]:
        """See `TokenCatalogue.tokens`. No tenant means all."""
        statement = SELECT.order_by(tokens.c.created_at.desc(), tokens.c.id)
        if tenant is not None:
            statement = statement.where(tokens.c.tenant == tenant)
        return await self._database.read(lambda connection: [_token(row) for row in connection.execute(statement)])

    async def revoke_token(self, tenant: str | None, token_id: str, *, now: datetime) -> TokenRow:
        """See `TokenCatalogue.revoke_token`."""
        this = [tokens.c.id == token_id]
        if tenant is not None:
            this.append(tokens.c.tenant == tenant)

        def work(connection: Connection) -> TokenRow:
            connection.execute(update(tokens).where(*this, tokens.c.revoked_at.is_(None)).values(revoked_at=now)).close()
            row = connection.execute(SELECT.where(*this)).first()
            if row is None:
                raise TokenNotFound
            return _token(row)

        return await self._database.write(work)

    async def touch_token(self, token_id: str, *, now: datetime) -> None:
        """See `TokenCatalogue.touch_token`."""
        statement = update(tokens).where(tokens.c.id == token_id).values(last_used_at=now)
        await self._database.write(lambda connection: connection.execute(statement).close())


def _token(row: Row[Any]) -> TokenRow:
    values = dict(zip(FIELDS, row, strict=True))
    return TokenRow(**{**values, "scopes": frozenset(Scope(scope) for scope in values["scopes"])})
