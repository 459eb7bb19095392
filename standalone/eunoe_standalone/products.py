"""One thread for numpy's matrix products.

The scan over all vectors waits for memory, so that a second thread adds nothing; but OpenBLAS lets its threads spin after each product,
on the cores that the embedding model and the stores need (measured on 50,000 passages: 44 ms of processor time per search instead of 25).
"""

from __future__ import annotations

import os

VARIABLES = ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread_for_products() -> None:
    """Call it before numpy is imported, which reads the variables. What the environment says stays in force."""
    for name in VARIABLES:
        os.environ.setdefault(name, "1")
