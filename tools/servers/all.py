"""The servers by name, in the order in which they are started."""

from __future__ import annotations

from collections.abc import Mapping

from servers.kafka import Kafka
from servers.neo4j import Neo4j
from servers.postgres import Postgres
from servers.server import Server
from servers.weaviate import Weaviate

SERVERS: Mapping[str, type[Server]] = {Kafka.name: Kafka, Postgres.name: Postgres, Neo4j.name: Neo4j, Weaviate.name: Weaviate}
