"""The stores of the distributed mode: PostgreSQL, S3, Weaviate, Neo4j and Kafka. Only those that are asked for are imported."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from eunoe_contracts.clock import Clock, Ids
from eunoe_contracts.errors import ConfigurationError
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue

from eunoe_process.settings_table import Owner
from eunoe_process.stores import Ask, Kinds, StoreKind, StoreName, Watch


@dataclass(frozen=True, slots=True)
class Adapter:
    """A package with settings in its module `config` and a function that opens it; `extra` brings its client library."""

    package: str
    settings_class: str
    function: str
    extra: str
    keeps_time: bool = False
    """Whether it wants clock and ids."""

    @property
    def settings(self) -> Owner:
        """Its settings class. Raises `ConfigurationError` naming what is to be installed."""
        found: Owner = getattr(self._imported(f"{self.package}.config"), self.settings_class)
        return found

    @asynccontextmanager
    async def open(self, settings: Any, clock: Clock, ids: Ids) -> AsyncIterator[Any]:
        """What its function opens. Raises also `ConfigurationError` when the library is not there."""
        function = getattr(self._imported(self.package), self.function)
        more: dict[str, Any] = {"clock": clock, "ids": ids} if self.keeps_time else {}
        async with AsyncExitStack() as stack:
            try:
                store = await stack.enter_async_context(function(settings, **more))
            except ImportError as error:
                raise self._missing(error) from error
            yield store

    def _imported(self, module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ImportError as error:
            raise self._missing(error) from error

    def _missing(self, error: ImportError) -> ConfigurationError:
        return ConfigurationError(
            f"{error.name or self.package} cannot be imported; install {self.extra}, or eunoe[cluster] where everything came as one"
        )


POSTGRES = Adapter("eunoe_stores.postgres", "PostgresSettings", "open_postgres", "eunoe-stores[postgres]")
S3 = Adapter("eunoe_stores.blobs.s3", "S3Settings", "open_s3", "eunoe-stores[s3]")
WEAVIATE = Adapter("eunoe_stores.vectors.weaviate", "WeaviateSettings", "open_weaviate", "eunoe-stores[weaviate]")
NEO4J = Adapter("eunoe_stores.graph.neo4j", "Neo4jSettings", "open_neo4j", "eunoe-stores[neo4j]")
KAFKA = Adapter("eunoe_stream.kafka", "KafkaSettings", "open_kafka_log", "eunoe-stream[kafka]", keeps_time=True)

ADAPTERS: Mapping[StoreName, Adapter] = {
    StoreName.CATALOGUE: POSTGRES,
    StoreName.BLOBS: S3,
    StoreName.VECTORS: WEAVIATE,
    StoreName.GRAPH: NEO4J,
    StoreName.LOG: KAFKA,
}


@asynccontextmanager
async def open_catalogue(settings: Any, clock: Clock, ids: Ids) -> AsyncIterator[SqlCatalogue]:
    """The catalogue, its tables brought to this version where the role may do so and nobody did yet."""
    async with POSTGRES.open(settings, clock, ids) as database:
        await migrate(database)
        catalogue = SqlCatalogue(database)
        try:
            yield catalogue
        finally:
            await catalogue.close()


def watch_kafka(log: Any, settings: Any, clock: Clock) -> Ask:
    """Asks the log's own watchdog: reading loops that ended, records that wait and do not arrive."""
    found: Ask = importlib.import_module(KAFKA.package).Watchdog(log, clock=clock, stall_s=settings.stall_s).ask
    return found


def cluster_kinds(names: Collection[StoreName]) -> Kinds:
    """How these stores are opened. Raises `ConfigurationError` naming what is to be installed."""
    opens = {name: each.open for name, each in ADAPTERS.items()} | {StoreName.CATALOGUE: open_catalogue}
    watches: Mapping[StoreName, Watch] = {StoreName.LOG: watch_kafka}
    return {name: StoreKind(ADAPTERS[name].settings, opens[name], watches.get(name)) for name in names}
