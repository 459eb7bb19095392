"""GraphStore on Neo4j: `open_neo4j(Neo4jSettings())`. The driver is imported when a store is opened, not before."""

from eunoe_stores.graph.neo4j.config import Neo4jSettings
from eunoe_stores.graph.neo4j.opening import open_neo4j

__all__ = ["Neo4jSettings", "open_neo4j"]
