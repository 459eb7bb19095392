"""The function that a worker process runs: one file through one backend. Never called in a serving process."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from eunoe_contracts.errors import BudgetExceeded, CapabilityUnavailable

from eunoe_extractor.backends.options import ParseOptions
from eunoe_extractor.backends.registry import BACKENDS
from eunoe_extractor.parsed import ParsedDocument
from eunoe_extractor.wire import to_wire


def run(format_id: str, path: Path, name: str, options: ParseOptions) -> list[Any]:
    """Parse and return wire data. Raises `CapabilityUnavailable` for a format without a backend, and what the backend raises."""
    module = BACKENDS.get(format_id)
    if module is None:
        raise CapabilityUnavailable(f"this server has no parser for {format_id}")
    document: ParsedDocument = importlib.import_module(module).parse(path, name=name, options=replace(options, format_id=format_id))
    if len(document.blocks) > options.max_blocks:
        raise BudgetExceeded("the document has too many parts")
    return to_wire(document)
