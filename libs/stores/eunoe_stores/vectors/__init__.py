"""Vectors and BM25."""
