"""The servers by name, in the order in which they are started."""

from __future__ import annotations

from collections.abc import Mapping

from servers.kafka import Kafka
from servers.neo4j import Neo4j
from servers.postgres import Postgres
from servers.s3 import S3
from servers.server import Server
from servers.weaviate import Weaviate

SERVERS: Mapping[str, type[Server]] = {each.name: each for each in (Kafka, Postgres, Neo4j, Weaviate, S3)}
