"""The one runner: it drives every handler, decides retry or dead letter, publishes, writes the ledger and commits."""

from eunoe_stream.runner.health import GroupHealth
from eunoe_stream.runner.runner import Runner

__all__ = ["GroupHealth", "Runner"]
