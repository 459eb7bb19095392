"""Memories by rules, without a model: what a text says outright. Few and certain rather than many."""

from eunoe_llm_extractor.backends.rules.proposer import RulesProposer

__all__ = ["RulesProposer"]
