"""The Log port, its adapters, and the runner that drives every handler."""
