"""Tables of index.db, and the guard that refuses files this program cannot read.

Row ids carry the tenant's number in the upper bits, so that a tenant's rows and vectors lie together and load in one range scan.
A posting token is `<field><tenant>x<term>~<frequency>`: the field is `b` (body) or `c` (contextual text). Postings are thus per
tenant, and one range of terms gives rows and frequencies without positions.
"""

from __future__ import annotations

import sqlite3

from eunoe_contracts.errors import ConfigurationError, SchemaTooNew

from eunoe_stores.analyser import ANALYSER_VERSION

SCHEMA_VERSION = 2
TENANT_SHIFT = 40
BODY = "b"
CONTEXT = "c"

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tenants (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, last_row INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS rows (
    id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, key BLOB NOT NULL, public BLOB NOT NULL, document BLOB NOT NULL,
    parent BLOB NOT NULL, container TEXT NOT NULL, kind TEXT NOT NULL, generation INTEGER NOT NULL, position INTEGER NOT NULL,
    profile TEXT NOT NULL, time REAL, latest INTEGER NOT NULL, body_length INTEGER NOT NULL, context_length INTEGER NOT NULL,
    turn INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS rows_key ON rows (tenant, key);
CREATE INDEX IF NOT EXISTS rows_document ON rows (tenant, document, generation);
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS postings USING fts5(tokens, detail=none, columnsize=0, tokenize="ascii tokenchars '~'");
CREATE VIRTUAL TABLE IF NOT EXISTS terms USING fts5vocab(postings, instance);
"""


def prepare(driver: sqlite3.Connection) -> None:
    """Create what is missing. Raises `SchemaTooNew`, or `ConfigurationError` for tokens of another analyser. May be called twice."""
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            driver.execute(statement)
    if int(setting(driver, "schema") or SCHEMA_VERSION) > SCHEMA_VERSION:
        raise SchemaTooNew
    if not driver.execute("SELECT 1 FROM pragma_table_info('rows') WHERE name = 'turn'").fetchone():
        driver.execute("ALTER TABLE rows ADD COLUMN turn INTEGER")  # version 1 did not keep it
    if (setting(driver, "analyser") or ANALYSER_VERSION) != ANALYSER_VERSION:
        raise ConfigurationError("the search index was written with another text analyser; rebuild it with `eunoe doctor --rebuild`")
    store_setting(driver, "schema", str(SCHEMA_VERSION))
    store_setting(driver, "analyser", ANALYSER_VERSION)


def setting(driver: sqlite3.Connection, name: str) -> str | None:
    """A stored value, or None."""
    found = driver.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if found is None else str(found[0])


def store_setting(driver: sqlite3.Connection, name: str, value: str) -> None:
    """Insert or replace a value."""
    driver.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def row_range(tenant: int) -> tuple[int, int]:
    """Ids of a tenant's rows: from the first, up to but without the second."""
    return tenant << TENANT_SHIFT, (tenant + 1) << TENANT_SHIFT


def term_prefix(field: str, tenant: int) -> str:
    """What stands before the term in a posting token. Digits end at the first `x`, so prefixes of two tenants never overlap."""
    return f"{field}{tenant}x"
