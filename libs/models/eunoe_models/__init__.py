"""Model ports and providers."""
