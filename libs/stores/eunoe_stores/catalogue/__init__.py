"""System of record."""
