"""A process that claims the same stages as its equals: `claimer.py OWNER ROUNDS`. Prints the rounds that it won, one a line."""

from __future__ import annotations

import asyncio
import sys

from eunoe_contracts.errors import StaleGeneration
from eunoe_contracts.stages import ClaimOutcome, Stage
from eunoe_stores.catalogue.migration import migrate
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import MANY, NOON, TENANT, new_document
from eunoe_stores.postgres import PostgresSettings, open_postgres
from eunoe_stream.ledger import StageKey


async def main(owner: str, rounds: int) -> None:
    async with open_postgres(PostgresSettings()) as database:
        await migrate(database)
        catalogue = SqlCatalogue(database)
        for number in range(rounds):
            new = new_document(f"{number}")
            while True:
                plan = await catalogue.plan_accept(TENANT, new)
                try:
                    await catalogue.accept(TENANT, new, plan=plan, queue_limit=MANY, now=NOON)
                except StaleGeneration:
                    continue
                break
            outcome = await catalogue.claim(TENANT, StageKey(new.id, 1, Stage.EXTRACT), owner=owner, lease_s=60, now=NOON)
            if outcome is ClaimOutcome.CLAIMED:
                sys.stdout.write(f"{number}\n")


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
