"""What goes to Neo4j, without a server: pieces of a write, keys, conditions, and errors."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID

import pytest
from eunoe_contracts.errors import DeadlineExceeded, InternalError, StoreUnavailable
from eunoe_stores.graph.neo4j import Neo4jSettings
from eunoe_stores.graph.neo4j.errors import RaceLost, is_race, mapped
from eunoe_stores.graph.neo4j.rows import LABELS, ROWS, TYPES, name_hash, node_key, within
from eunoe_stores.graph.neo4j.writing import pieces
from eunoe_stores.graph.port import Edge, EdgeKind, Node, NodeKind
from neo4j.exceptions import ClientError, Neo4jError, ServiceUnavailable
from pydantic import ValidationError

DOCUMENT = UUID(int=1)


def passage(number: int) -> Node:
    return Node(UUID(int=number), NodeKind.PASSAGE, UUID(int=number), "team", DOCUMENT, 1)


def link(source: int, target: int, *, weight: float = 1.0, generation: int = 1) -> Edge:
    return Edge(UUID(int=source), EdgeKind.NEXT, UUID(int=target), DOCUMENT, generation, weight)


def server_error(code: str) -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message="content")


def test_labels_and_types_are_plain_words():
    assert set(LABELS) == set(NodeKind)
    assert set(TYPES) == set(EdgeKind)
    assert all(name.replace("_", "").isalpha() for name in (*LABELS.values(), *TYPES.values()))


def test_a_small_write_is_one_piece_with_everything_in_it():
    ((nodes, edges),) = pieces([passage(1), passage(2), passage(1)], [link(1, 2), link(8, 9)])
    assert nodes == [passage(1), passage(2)]
    assert edges == [link(1, 2), link(8, 9)]


def test_of_an_edge_written_twice_the_last_weight_and_the_newest_generation_count():
    ((_, edges),) = pieces([], [link(1, 2, weight=3, generation=2), link(1, 2, weight=5, generation=1)])
    assert edges == [link(1, 2, weight=5, generation=2)]


def test_of_a_large_write_every_node_comes_once_and_with_its_first_edge():
    nodes = [passage(number) for number in range(3 * ROWS)]
    edges = [link(before.key.int, after.key.int) for before, after in pairwise(nodes[: 2 * ROWS])]
    found = list(pieces(nodes, edges))
    assert [each for _, part in found for each in part] == edges
    assert sorted(node.key.int for part, _ in found for node in part) == list(range(3 * ROWS))
    assert all(len(part) <= ROWS + 1 and len(links) <= ROWS for part, links in found)
    there: set[UUID] = set()
    for part, links in found:
        there |= {node.key for node in part}
        assert all({edge.source, edge.target} <= there for edge in links)


def test_keys_differ_between_tenants_and_are_short():
    assert node_key("a", UUID(int=1)) != node_key("b", UUID(int=1))
    assert len(node_key("a" * 64, UUID(int=1))) == len(name_hash("x" * 40_000)) == 32


def test_containers_become_parameters():
    condition, parameters = within(("a.b", "c'*"), "n")
    assert parameters == {"exact": ["a.b"], "prefixes": ["c'"]}
    assert "'" not in condition
    assert within((), "n") == ("true", {})


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ServiceUnavailable("content"), StoreUnavailable),
        (ConnectionResetError("content"), StoreUnavailable),
        (server_error("Neo.TransientError.Transaction.DeadlockDetected"), StoreUnavailable),
        (server_error("Neo.TransientError.General.DatabaseUnavailable"), StoreUnavailable),
        (server_error("Neo.ClientError.Security.Unauthorized"), StoreUnavailable),
        (server_error("Neo.ClientError.Statement.EntityNotFound"), StoreUnavailable),
        (server_error("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"), DeadlineExceeded),
        (server_error("Neo.ClientError.Statement.SyntaxError"), InternalError),
        (server_error("Neo.DatabaseError.Statement.ExecutionFailed"), InternalError),
    ],
)
def test_errors_become_ours_and_say_nothing_of_content(error: Exception, expected: type[Exception]):
    found = mapped(error)
    assert type(found) is expected
    assert "content" not in found.message


def test_a_lost_race_is_tried_again():
    assert is_race(RaceLost())
    assert is_race(server_error("Neo.ClientError.Schema.ConstraintValidationFailed"))
    assert not is_race(ClientError("x"))


def test_settings_come_from_the_environment_and_hide_the_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EUNOE_NEO4J__URI", "neo4j+s://graph.example:7687")
    monkeypatch.setenv("EUNOE_NEO4J__PASSWORD", "hidden-word")
    settings = Neo4jSettings()
    assert settings.password.get_secret_value() == "hidden-word"
    assert "hidden-word" not in repr(settings)
    monkeypatch.setenv("EUNOE_NEO4J__URI", "http://graph.example")
    with pytest.raises(ValidationError):
        Neo4jSettings()
