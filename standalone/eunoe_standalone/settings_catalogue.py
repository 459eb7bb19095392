"""All settings of all parts, of the one process and of the six: which variables exist, what is in force, where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from eunoe_process import settings_table
from eunoe_process.sections import others
from eunoe_process.settings_table import DOTENV, Effective, Owner, Setting, load
from pydantic_settings import BaseSettings

__all__ = ["Effective", "Setting", "all_settings", "effective", "load", "refuse_unknown", "settings_classes"]

MODULES = (
    "eunoe_standalone.settings",
    "eunoe_gateway.config",
    "eunoe_extractor.config",
    "eunoe_embedder.config",
    "eunoe_llm_extractor.config",
    "eunoe_graph.config",
    "eunoe_search.config",
    "eunoe_models.config",
)
CLUSTER_MODULES = (
    "eunoe_process.config",
    "eunoe_stores.postgres.config",
    "eunoe_stores.blobs.s3.config",
    "eunoe_stores.vectors.weaviate.config",
    "eunoe_stores.graph.neo4j.config",
    "eunoe_stream.kafka.config",
)
"""Read by the six processes only. The one process never imports them: their packages may lack their libraries."""


def settings_classes(modules: tuple[str, ...] = MODULES) -> Iterator[Owner]:
    """Every settings class, in the order of the modules."""
    for name in modules:
        module = import_module(name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, BaseSettings) and value.__module__ == name:
                yield value


def all_settings() -> Iterator[Setting]:
    """Every variable there is, for the reference."""
    return settings_table.settings_of(settings_classes((*MODULES, *CLUSTER_MODULES)))


def refuse_unknown(environment: Mapping[str, str] | None = None, dotenv: Path = DOTENV) -> None:
    """Raise `ConfigurationError` naming variables of our form that no part knows: they are typing mistakes.

    Those of the six processes are let pass: one `.env` may serve both ways to run.
    """
    owners = tuple(settings_classes())
    settings_table.refuse_unknown(
        settings_table.settings_of(owners),
        elsewhere=others(owners),
        advice="`eunoe config` lists the known ones",
        environment=environment,
        dotenv=dotenv,
    )


def effective(dotenv: Path = DOTENV) -> list[Effective]:
    """Every setting of the one process with its value and origin. Raises `ConfigurationError` for a value that is not valid."""
    return settings_table.effective_of(settings_classes(), dotenv)
