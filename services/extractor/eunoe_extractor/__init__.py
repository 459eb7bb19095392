"""The extractor: bytes of a document to blocks, blocks to passages."""
