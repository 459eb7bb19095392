"""Directives of reStructuredText: what of them is text, code or a table."""

from __future__ import annotations

import csv
import re

CODE = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "prompt", "doctest", "testcode", "testoutput", "math", "raw",
     "productionlist", "graphviz", "highlight", "mermaid", "uml"}
)  # fmt: skip
UNSAID = frozenset(
    {"image", "figure", "include", "literalinclude", "contents", "toctree", "highlight", "default-role", "role", "index", "currentmodule",
     "module", "raw", "container", "class", "only", "meta", "csv-table", "list-table", "section-numbering", "sectnum", "unicode", "date",
     "automodule", "autoclass", "autofunction", "program", "tabularcolumns"} | CODE
)  # fmt: skip
"""Directives whose argument is a file, a name or a setting."""
TABLES = frozenset({"csv-table", "list-table"})
READ_OPTIONS = frozenset({"alt", "caption", "title", "name", "description", "keywords", "subtitle"})
OPTION = re.compile(r"\s*:([\w-]{1,40}):(?:\s+(.*))?$")


def split_body(first: str, body: list[str], *, goes_on: bool) -> tuple[str, dict[str, str], list[str]]:
    """The argument (which may go on in the lines after), the options, and the content of a directive."""
    argument = [first] if first else []
    at = 0
    while at < len(body) and body[at].strip() and not OPTION.match(body[at]) and argument and goes_on:
        argument.append(body[at].strip())
        at += 1
    options: dict[str, str] = {}
    while at < len(body) and (match := OPTION.match(body[at])):
        at += 1
        value = [match[2] or ""]
        while at < len(body) and body[at].startswith(" ") and not OPTION.match(body[at]):
            value.append(body[at].strip())
            at += 1
        options[match[1].lower()] = " ".join(value).strip()
    while at < len(body) and not body[at].strip():
        at += 1
    return " ".join(argument), options, body[at:]


def csv_rows(header: str, body: list[str], delimiter: str) -> list[list[str]]:
    """The rows of a `csv-table`. A line that the reader refuses is one cell."""
    separator = {"tab": "\t", "space": " "}.get(delimiter, delimiter[:1] or ",")
    lines = ([header] if header else []) + body
    try:
        return list(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    except (csv.Error, TypeError, ValueError):
        return [[line] for line in lines]
