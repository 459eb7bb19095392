"""Relationships."""
