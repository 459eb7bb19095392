"""The table of readers in the contracts says what the services really subscribe to."""

from __future__ import annotations

from unittest.mock import Mock

import eunoe_embedder.wiring as embedder
import eunoe_extractor.wiring as extractor
import eunoe_gateway.wiring as gateway
import eunoe_graph.wiring as graph
import eunoe_llm_extractor.wiring as llm_extractor
from eunoe_contracts.readers import READERS, STAGE_INPUTS
from eunoe_embedder.config import EmbedderSettings
from eunoe_extractor.config import ExtractorSettings
from eunoe_gateway.config import GatewaySettings
from eunoe_gateway.ports import StageInput, stage_inputs
from eunoe_graph.config import GraphSettings
from eunoe_llm_extractor.config import LlmSettings

ANY = Mock()
STAGES = (
    extractor.build(ExtractorSettings(), catalogue=ANY, blobs=ANY, parser=ANY, tokens=None, clock=ANY, instance="a"),
    embedder.build(EmbedderSettings(), catalogue=ANY, vectors=ANY, model=None),
    llm_extractor.build(LlmSettings(), catalogue=ANY, clock=ANY),
    graph.build(GraphSettings(), catalogue=ANY, graph=ANY),
)


def test_the_inputs_of_stages() -> None:
    assert stage_inputs(STAGES) == STAGE_INPUTS


def test_every_reader_of_every_topic() -> None:
    services = (*STAGES, gateway.build(GatewaySettings(), ANY, ANY))
    found = [StageInput(each.topic, each.group) for service in services for each in service.subscriptions]
    assert sorted(found, key=str) == sorted(READERS, key=str)
