"""Why the server must not run with its defaults. When these fail after an upgrade, ADR 12 is to be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from uuid import UUID, uuid4

import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import ConfigurationError
from eunoe_stores.vectors.port import IndexRow
from eunoe_stores.vectors.weaviate import open_weaviate
from eunoe_stores.vectors.weaviate.testing import settings_from, temporary_index
from servers.server import Server
from servers.weaviate import Weaviate
from weaviate.classes.query import MetadataQuery

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]
ROWS, WANTED = 60, 5


class Defaults(Weaviate):
    """Words are ranked by BlockMax WAND. Wants a key."""

    def environment(self) -> Mapping[str, str]:
        variables = {name: value for name, value in super().environment().items() if name != "USE_INVERTED_SEARCHABLE"}
        return variables | {
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
            "AUTHENTICATION_APIKEY_ENABLED": "true",
            "AUTHENTICATION_APIKEY_ALLOWED_KEYS": "right",
            "AUTHENTICATION_APIKEY_USERS": "eunoe",
        }

    def settings(self) -> Mapping[str, str]:
        return {**super().settings(), "EUNOE_WEAVIATE__API_KEY": "right"}


@pytest.fixture(scope="module")
def defaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Defaults(tmp_path_factory.mktemp("defaults"))
    server.start()
    yield server
    server.stop()


def row(number: int) -> IndexRow:
    """The later, the better for the word."""
    body = " ".join(["zebra"] * (number + 1) + ["other"] * (ROWS - number))
    return IndexRow(
        key=uuid4(),
        public_id=uuid4(),
        document=UUID(int=1),
        generation=1,
        container="team",
        kind=Kind.PASSAGE,
        body=body,
        context=body,
        vector=None,
        parent=UUID(int=2),
        position=number,
    )


async def test_a_collection_with_blockmax_is_refused(defaults: Server) -> None:
    settings = settings_from(defaults.settings())
    with pytest.raises(ConfigurationError, match="USE_INVERTED_SEARCHABLE=false"):
        async with open_weaviate(settings):
            pass
    async with temporary_index(settings.model_copy(update={"allow_blockmax": True})) as index:
        assert await index.count("t") == 0


async def test_blockmax_takes_the_first_fresh_rows_for_the_best_ones(defaults: Server) -> None:
    settings = settings_from(defaults.settings(), allow_blockmax=True)
    async with temporary_index(settings) as index:
        await index.upsert("t", [row(number) for number in range(ROWS)])
        shard = index.shard("t")

        async def scores(limit: int) -> list[float]:
            answer = await shard.query.bm25("zebra", query_properties=["body"], limit=limit, return_metadata=MetadataQuery(score=True))
            return [each.metadata.score or 0.0 for each in answer.objects]

        assert await scores(WANTED) != (await scores(ROWS))[:WANTED]


@pytest.mark.parametrize("key", ["", "wrong"])
async def test_a_key_that_is_refused_keeps_a_process_from_starting(defaults: Server, key: str) -> None:
    with pytest.raises(ConfigurationError, match="API_KEY"):
        async with open_weaviate(settings_from({**defaults.settings(), "EUNOE_WEAVIATE__API_KEY": key})):
            pass
