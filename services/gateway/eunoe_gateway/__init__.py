"""Gateway: the doors, acceptance, ends of documents, erasure."""
