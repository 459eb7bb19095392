"""Runs of lines in reStructuredText."""

from __future__ import annotations

from textwrap import dedent

MOST_TABS = 2_000_000


def lines_of(text: str) -> list[str]:
    """The lines with tabs as spaces up to the next eighth column; very many tabs are one space each, as they would fill the memory."""
    return (text.expandtabs(8) if text.count("\t") <= MOST_TABS else text.replace("\t", " ")).split("\n")


def indented(lines: list[str], at: int) -> tuple[list[str], int]:
    """Indented and empty lines from `at`, moved to the margin, and where they end."""
    end = at
    while end < len(lines) and (not lines[end].strip() or lines[end][0] == " "):
        end += 1
    return dedent("\n".join(lines[at:end])).rstrip().split("\n"), end


def end_of_run(lines: list[str], at: int) -> int:
    """The first empty line from `at`."""
    return next((index for index in range(at, len(lines)) if not lines[index].strip()), len(lines))


def next_text(lines: list[str], at: int) -> int:
    """The first line from `at` that is not empty."""
    return next((index for index in range(at, len(lines)) if lines[index].strip()), len(lines))
