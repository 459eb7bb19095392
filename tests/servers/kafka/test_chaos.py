"""A minute of the chaos run (`make chaos` makes five): members and broker are killed while records of every kind come."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chaos.plan import Form
from chaos.run import run
from eunoe_stores.postgres import PostgresSettings
from eunoe_stores.postgres.testing import fresh_schema, settings_of

pytestmark = [pytest.mark.servers, pytest.mark.timeout(420)]

SECONDS = 60.0


@pytest.fixture
def postgres(servers: Any) -> Iterator[PostgresSettings]:
    with fresh_schema(settings_of(servers["postgres"].settings())) as found:
        yield found


async def test_nothing_is_lost_and_every_duplicate_is_absorbed(kafka: Any, postgres: PostgresSettings, tmp_path: Path) -> None:
    form = Form.short(SECONDS, int(os.environ.get("EUNOE_CHAOS_SEED", "7")))
    told: list[str] = []
    try:
        outcome = await run(form, kafka, postgres, tmp_path, prefix="chaos.", tell=told.append)
    finally:
        if kafka.process is None:
            kafka.start()
    story = "\n".join([*outcome.findings, *told, *(f"{name}: {value}" for name, value in outcome.table.items())])
    assert outcome.findings == [], story
    assert "SIGKILL" in outcome.table["broker"], story
    assert outcome.table["members killed, stopped"] != "0, 0", story
