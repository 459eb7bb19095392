"""What the servers hold, read by their own clients: exactly what the documents of a container should have left there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

import httpx
import weaviate
from driving import Wave, ended, eventually, hits, letters
from eunoe_contracts.identity import row_key
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_stores.vectors.weaviate.names import tenant_shard
from neo4j import GraphDatabase
from servers.cluster import MODULES, Cluster
from servers.fixtures import Servers
from weaviate.classes.query import Filter

COLLECTION = "EunoeRow"
VECTOR = "v1"
OF_DOCUMENTS = ["document", "root", "section", "passage", "memory"]
MOST = 10_000


def check_sinks(servers: Servers, container: str, done: Collection[str]) -> None:
    """Of the done documents every row once, found by its own vector, and of the others nothing, in PostgreSQL, Weaviate and Neo4j."""
    sql: Any = servers["postgres"]
    documents = sql.sql(f"SELECT id, generation, status FROM documents WHERE container = '{container}'")  # noqa: S608 - made here
    assert {str(each[0]) for each in documents if each[2] == "done"} == set(done)
    units = sql.sql(f"SELECT id, generation, indexed, document, kind, ordinal FROM units WHERE container = '{container}'")  # noqa: S608
    assert {str(each[3]) for each in units} == set(done), "texts of documents that are not done, or none of one that is"
    assert len({each[3:] for each in units}) == len(units), "a passage is there twice"
    memories = sql.sql(f"SELECT id, epoch FROM memories WHERE alive AND container = '{container}'")  # noqa: S608
    remembered = {row_key(*each) for each in memories}
    check_weaviate(servers, container, {row_key(each[0], each[1]) for each in units if each[2]} | remembered)
    structure = {row_key(*each[:2]) for each in documents if each[2] == "done"} | {row_key(*each[:2]) for each in units}
    check_neo4j(servers, container, structure | remembered, done)


def check_weaviate(servers: Servers, container: str, wanted: Collection[UUID]) -> None:
    """Exactly these rows, and each is what a query with its own vector finds first."""
    at = servers["weaviate"].settings()
    host, grpc_host = at["EUNOE_WEAVIATE__HTTP_HOST"], at["EUNOE_WEAVIATE__GRPC_HOST"]
    ports = int(at["EUNOE_WEAVIATE__HTTP_PORT"]), int(at["EUNOE_WEAVIATE__GRPC_PORT"])
    with weaviate.connect_to_custom(host, ports[0], False, grpc_host, ports[1], False, skip_init_checks=True) as server:  # noqa: FBT003
        rows = server.collections.use(COLLECTION).with_tenant(tenant_shard(DEFAULT_TENANT))
        here = Filter.by_property("container").equal(container)
        found = {each.uuid: each.vector[VECTOR] for each in rows.query.fetch_objects(filters=here, limit=MOST, include_vector=True).objects}
        assert set(found) == set(wanted), f"{len(set(wanted) - set(found))} rows are missing, {len(set(found) - set(wanted))} are orphans"
        for key, vector in found.items():
            nearest = rows.query.near_vector(vector, filters=here, limit=3, target_vector=VECTOR).objects
            assert key in {each.uuid for each in nearest}, "a vector is not in the index"


def check_neo4j(servers: Servers, container: str, wanted: Collection[UUID], documents: Collection[str]) -> None:
    """Exactly these nodes, and no edge of the documents whose end never came."""
    at = servers["neo4j"].settings()
    login = (at["EUNOE_NEO4J__USER"], at["EUNOE_NEO4J__PASSWORD"])
    with GraphDatabase.driver(at["EUNOE_NEO4J__URI"], auth=login) as driver, driver.session() as session:
        nodes = session.run(
            "MATCH (n:EunoeNode) WHERE n.tenant = $tenant AND n.container = $container AND n.kind IN $kinds RETURN n.id",
            tenant=DEFAULT_TENANT,
            container=container,
            kinds=OF_DOCUMENTS,
        ).value()
        assert len(nodes) == len(set(nodes)), "a node is there twice"
        missing, orphans = {each.hex for each in wanted} - set(nodes), set(nodes) - {each.hex for each in wanted}
        assert not missing | orphans, f"{len(missing)} nodes are missing, {len(orphans)} are orphans"
        loose = session.run(
            "MATCH (a)-[r]->(b) WHERE r.tenant = $tenant AND r.document IN $documents AND (a.kind IS NULL OR b.kind IS NULL) "
            "RETURN count(r)",
            tenant=DEFAULT_TENANT,
            documents=[UUID(each).hex for each in documents],
        ).single(strict=True)[0]
        assert loose == 0, "edges lead to nodes that never came"


def check_wave(http: httpx.Client, cluster: Cluster, servers: Servers, wave: Wave, *, limit_s: float = 400) -> None:
    """Every acknowledged document has ended once: done and found, or poison and in the dead letters, from where it can be replayed."""
    assert wave.poison
    ids = [*wave.texts, *wave.poison]
    assert len(ids) == len(set(ids))
    ends = {each["id"]: each for each in ended(http, ids, limit_s)}
    assert {ends[each]["status"] for each in wave.texts} == {"done"}
    assert {(ends[each]["status"], ends[each]["error_code"]) for each in wave.poison} == {("failed", "empty_extraction")}
    assert http.post("/v1/documents/list", json={"container": wave.container}).json()["total"] == len(ids)
    assert all(each.process is not None and each.process.poll() is None for each in cluster.processes.values()), "a process has ended"
    for service in MODULES:
        eventually(lambda service=service: cluster[service].get("/ready")[0] == 200, 60, cluster[service].parts)
    check_letters(http, cluster, wave)
    check_sinks(servers, wave.container, wave.texts)
    for identity, text in list(wave.texts.items())[:: max(1, len(wave.texts) // 10)]:
        found = hits(http, text[:200], wave.container, mode="vector", limit=50, filters={"document_id": identity})
        assert identity in {each["document_id"] for each in found}
        assert len({(each["document_id"], each["content"]) for each in found}) == len(found), "a passage is there twice"


def check_letters(http: httpx.Client, cluster: Cluster, wave: Wave) -> None:
    """One for each poisoned document, nothing else; each can be replayed, which fails again, and a second replay does nothing."""
    first = [each for each in letters(http) if each["container"] == wave.container]
    assert sorted(each["document_id"] for each in first) == sorted(wave.poison)
    assert {each["code"] for each in first} == {"empty_extraction"}
    ids = [each["id"] for each in first]
    # Frozen for a moment, so that none fails again between the two replays.
    cluster["extractor"].freeze()
    try:
        replays = [http.post("/v1/dead-letters/replay", json={"ids": ids}).json()["replayed"] for _ in range(2)]
    finally:
        cluster["extractor"].thaw()
    assert replays == [len(ids), 0]

    def again() -> list[dict[str, Any]]:
        return [each for each in letters(http) if each["container"] == wave.container and each["replays"] == 1]

    eventually(lambda: len(again()) == len(ids), 60, again)
    assert {each["error_code"] for each in ended(http, wave.poison)} == {"empty_extraction"}
    assert sorted(each["document_id"] for each in again()) == sorted(wave.poison)
