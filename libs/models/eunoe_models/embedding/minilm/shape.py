"""The sizes of all-MiniLM-L6-v2 (BERT, Devlin et al. 2018; MiniLM, Wang et al. 2020)."""

from __future__ import annotations

LAYERS = 6
HEADS = 12
HIDDEN = 384
INTERMEDIATE = 1536
VOCABULARY = 30522
POSITIONS = 512
EPSILON = 1e-12
MAX_LENGTH = 256
"""Tokens of one text with the two special ones; the model was trained for no more."""
