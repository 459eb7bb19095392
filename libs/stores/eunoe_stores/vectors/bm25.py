"""The constants of BM25, and the weight of a term: as in Lucene 8 and Weaviate, so without the constant factor k1 + 1 (Robertson and
Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
"""

from __future__ import annotations

import math

K1 = 1.2
B = 0.75


def idf(total: int, holding: int) -> float:
    """Weight of a term that `holding` of `total` texts contain."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
