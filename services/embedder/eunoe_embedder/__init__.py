"""The embedder: passages and memories to vectors and searchable rows."""
