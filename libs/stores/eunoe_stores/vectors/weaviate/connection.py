"""The connection to the server: each call has a time limit of ours, and errors of ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import httpx
import weaviate
from eunoe_contracts.errors import EunoeError, StoreUnavailable
from weaviate.classes.init import AdditionalConfig, Auth, Timeout
from weaviate.collections import CollectionAsync
from weaviate.config import GrpcConfig

from eunoe_stores.vectors.weaviate.config import WeaviateSettings
from eunoe_stores.vectors.weaviate.errors import LIBRARY, TenantAbsent, at_start, mapped
from eunoe_stores.vectors.weaviate.names import tenant_shard

T = TypeVar("T")
Shard: TypeAlias = CollectionAsync[Mapping[str, Any], Any]
# After an outage a channel with the default options stays blind for up to a minute although the server is back.
_CHANNEL = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.min_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1000)]
_LATER = 2.0
"""The client's own limits are this much above ours, which then decide."""


class Connection:
    """One client, made for one event loop."""

    def __init__(self, settings: WeaviateSettings) -> None:
        # It logs whole objects when a batch fails in part.
        logging.getLogger("weaviate-client").setLevel(logging.CRITICAL + 1)
        self.settings = settings
        key = settings.api_key.get_secret_value()
        self.client = weaviate.use_async_with_custom(
            http_host=settings.http_host,
            http_port=settings.http_port,
            http_secure=settings.http_tls,
            grpc_host=settings.grpc_host or settings.http_host,
            grpc_port=settings.grpc_port,
            grpc_secure=settings.grpc_tls,
            auth_credentials=Auth.api_key(key) if key else None,
            # Its checks at the start ask the public package index for newer versions.
            skip_init_checks=True,
            additional_config=AdditionalConfig(
                timeout=Timeout(
                    init=settings.connect_timeout_s,
                    query=settings.query_timeout_s + _LATER,
                    insert=settings.write_timeout_s + _LATER,
                ),
                grpc_config=GrpcConfig(channel_options=_CHANNEL),
            ),
        )

    async def open(self) -> None:
        """Connect. Raises `StoreUnavailable`, or `ConfigurationError` for credentials that are refused."""
        try:
            await self.call(self.client.connect(), self.settings.connect_timeout_s, named=at_start)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """May be called twice."""
        await self.client.close()

    async def uses_blockmax(self, collection: str) -> bool:
        """Whether the collection ranks words by BlockMax WAND, of which the client does not tell."""
        settings = self.settings
        scheme = "https" if settings.http_tls else "http"
        key = settings.api_key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with httpx.AsyncClient(timeout=settings.write_timeout_s, headers=headers) as http:
            answer = await self.call(
                http.get(f"{scheme}://{settings.http_host}:{settings.http_port}/v1/schema/{collection}"), settings.write_timeout_s
            )
        if answer.status_code != httpx.codes.OK:
            raise StoreUnavailable(f"weaviate did not tell the schema (status {answer.status_code})")
        return bool(answer.json().get("invertedIndexConfig", {}).get("usingBlockMaxWAND"))

    def shard(self, collection: str, tenant: str) -> Shard:
        """A tenant's part of a collection."""
        return self.client.collections.use(collection).with_tenant(tenant_shard(tenant))

    async def read(self, answer: Awaitable[T], *, absent: T) -> T:
        """The answer of a query; `absent` when nothing was ever written for the tenant."""
        try:
            return await self.call(answer, self.settings.query_timeout_s)
        except TenantAbsent:
            return absent

    async def write(self, done: Awaitable[T]) -> T:
        """The answer of a change. It may be done although there was no answer in time: changes are repeatable."""
        return await self.call(done, self.settings.write_timeout_s)

    async def call(self, answer: Awaitable[T], limit_s: float, *, named: Callable[[Exception], EunoeError | TenantAbsent] = mapped) -> T:
        """The answer within a limit of time. Raises errors of our tree, or `TenantAbsent`."""
        try:
            async with asyncio.timeout(limit_s):
                return await answer
        except (TimeoutError, *LIBRARY) as error:
            # Without its cause, whose text may hold content.
            raise named(error) from None
