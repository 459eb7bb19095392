"""Pinned model files: the table, where they come from, and the cache they are built in. Nothing downloaded is ever executed."""

from eunoe_models.artifacts.cache import build, is_ready, list_models, pull
from eunoe_models.artifacts.loading import Loaded, load_counter, load_embedder, missing_model, profile_of, require_embedder
from eunoe_models.artifacts.progress import Progress
from eunoe_models.artifacts.table import ARTIFACTS, Artifact

__all__ = [
    "ARTIFACTS",
    "Artifact",
    "Loaded",
    "Progress",
    "build",
    "is_ready",
    "list_models",
    "load_counter",
    "load_embedder",
    "missing_model",
    "profile_of",
    "pull",
    "require_embedder",
]
