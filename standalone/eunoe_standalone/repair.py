"""Audit and repair of a data directory that no server uses: do all stores agree, and make the index again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


async def audit_offline(data_dir: Path, *, fix: bool, rebuild: bool, tell: Callable[[str], None]) -> list[object]:
    """Later."""
    return []
