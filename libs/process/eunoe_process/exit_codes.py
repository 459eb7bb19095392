"""How a process says to whoever started it why it ended."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """`CONFIGURATION` wants a person, `UNREACHABLE` and `WATCHDOG` want another start."""

    OK = 0
    FAILED = 1
    """A defect, or a second signal that did not want to wait for the stop."""
    CONFIGURATION = 2
    """A setting, a missing file, a schema or model of another version: starting again changes nothing."""
    UNREACHABLE = 3
    """A store did not answer at start."""
    WATCHDOG = 4
    """The process stood still with work before it, and ended itself."""
