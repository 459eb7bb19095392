"""The one text analyser: feeds every BM25 store ready-made tokens, so that all of them find the same words."""

from eunoe_stores.analyser.tokens import ANALYSER_VERSION, MAX_QUERY_TOKENS, MAX_TOKEN_LENGTH, analyse, analyse_part, analyse_query

__all__ = ["ANALYSER_VERSION", "MAX_QUERY_TOKENS", "MAX_TOKEN_LENGTH", "analyse", "analyse_part", "analyse_query"]
