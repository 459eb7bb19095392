"""Metrics, tracing, logging and the real clock. Nothing here ever phones home."""
