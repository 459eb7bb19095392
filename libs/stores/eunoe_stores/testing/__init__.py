"""Honest small stores in memory, for tests of services and for users. They pass the behaviour suites of their ports."""

from eunoe_stores.testing.blobs import MemoryBlobStore
from eunoe_stores.testing.graph import MemoryGraphStore
from eunoe_stores.testing.vectors import MemoryVectorIndex

__all__ = ["MemoryBlobStore", "MemoryGraphStore", "MemoryVectorIndex"]
