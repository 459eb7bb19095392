"""What the graph service offers to a process."""

from __future__ import annotations

from functools import partial

from eunoe_contracts import readers, topics
from eunoe_contracts.stages import Stage
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.graph.port import GraphStore
from eunoe_stream.subscription import Service, Subscription

from eunoe_graph import service
from eunoe_graph.config import GraphSettings

NAME = "graph"
GROUP = readers.GRAPH


def build(settings: GraphSettings, *, catalogue: Catalogue, graph: GraphStore) -> Service:
    """Three subscriptions: structure of extracted documents, relations of embedded memories, erasures."""
    undo = partial(service.undo, catalogue=catalogue, graph=graph)
    structure = Subscription(
        topic=topics.DOCUMENT_EXTRACTED,
        group=GROUP,
        handler=partial(service.structure, catalogue=catalogue, graph=graph),
        stage=Stage.STRUCTURE,
        undo=undo,
        concurrency=settings.concurrency,
        deadline_s=settings.deadline_s,
        max_attempts=settings.max_attempts,
    )
    relate = Subscription(
        topic=topics.MEMORIES_EMBEDDED,
        group=GROUP,
        handler=partial(service.relate, catalogue=catalogue, graph=graph),
        stage=Stage.RELATE,
        undo=undo,
        concurrency=settings.concurrency,
        deadline_s=settings.deadline_s,
        max_attempts=settings.max_attempts,
    )
    erase = Subscription(topic=topics.DOCUMENT_ERASED, group=GROUP, handler=partial(service.erase, graph=graph))
    return Service(NAME, (structure, relate, erase))
