"""Settings of all parts of the one-process server, loaded and checked together."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_embedder.config import EmbedderSettings
from eunoe_extractor.config import ExtractorSettings
from eunoe_gateway.config import AuthSettings, GatewaySettings
from eunoe_graph.config import GraphSettings
from eunoe_llm_extractor.config import LlmSettings
from eunoe_models.config import ModelSettings
from eunoe_search.config import SearchSettings

from eunoe_standalone.settings_catalogue import load, refuse_unknown


@dataclass(frozen=True, slots=True)
class PartSettings:
    """One settings object per part."""

    gateway: GatewaySettings
    auth: AuthSettings
    extractor: ExtractorSettings
    embedder: EmbedderSettings
    llm: LlmSettings
    graph: GraphSettings
    search: SearchSettings
    models: ModelSettings


def load_parts() -> PartSettings:
    """All of them from the environment and `.env`. Raises `ConfigurationError` naming what is wrong or unknown."""
    refuse_unknown()
    return PartSettings(
        gateway=load(GatewaySettings),
        auth=load(AuthSettings),
        extractor=load(ExtractorSettings),
        embedder=load(EmbedderSettings),
        llm=load(LlmSettings),
        graph=load(GraphSettings),
        search=load(SearchSettings),
        models=load(ModelSettings),
    )
