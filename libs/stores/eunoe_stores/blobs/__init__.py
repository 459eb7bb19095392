"""Raw bytes."""
