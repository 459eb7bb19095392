"""Retrieval quality of the running product on a BEIR folder, through its public API."""
