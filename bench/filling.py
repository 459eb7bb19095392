"""Data directories with many passages, written through the stores' own methods: texts of made-up words whose frequencies fall as
those of a language do (Zipf), and random vectors of length one. Ranking means nothing there; the work per query is that of real data.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from pydoc_data.topics import topics
from uuid import UUID

import numpy as np
from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.identity import keyed_document_id, passage_id, root_id, row_key, sha256_hex
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_models.embedding.profiles import PROFILES
from eunoe_standalone.data_directory import DataDirectory, open_data_directory
from eunoe_stores.catalogue.rows import End, NewDocument
from eunoe_stores.vectors.port import IndexRow
from eunoe_telemetry.clock import RandomIds, SystemClock

WORDS = 20_000
BODY_WORDS = 60
TURN_WORDS = 28
PER_DOCUMENT = 50
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
CONTAINER = "bench"


class Texts:
    """Texts and queries, the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self._draw = random.Random(seed)  # noqa: S311 - no secret
        self._words = ["".join(self._draw.choices(SYLLABLES, k=self._draw.randint(2, 4))) for _ in range(WORDS)]
        self._weights = [1 / (rank + 3) for rank in range(WORDS)]

    def text(self, words: int = BODY_WORDS) -> str:
        """One passage."""
        return " ".join(self._draw.choices(self._words, self._weights, k=words)).capitalize() + "."

    def queries(self, count: int) -> list[str]:
        """Questions of three to seven words, drawn as the texts are: some are frequent, most are not."""
        return [self.text(self._draw.randint(3, 7)) for _ in range(count)]


def index_rows(count: int, *, texts: Texts, seed: int = 11, first: int = 0, per_parent: int = PER_DOCUMENT) -> Iterator[IndexRow]:
    """Rows as the embedder writes them, `per_parent` to a document."""
    noise = np.random.default_rng(seed)
    dimensions = PROFILES["minilm"].dimensions
    for number in range(first, first + count):
        document, ordinal = _document(number // per_parent), number % per_parent
        body = texts.text()
        vector = noise.standard_normal(dimensions, dtype=np.float32)
        public = passage_id(document, ordinal)
        yield IndexRow(
            key=row_key(public, 1),
            public_id=public,
            document=document,
            generation=1,
            container=CONTAINER,
            kind=Kind.PASSAGE,
            body=body,
            context=f"document {number // per_parent}\n{body}",
            vector=vector / np.linalg.norm(vector),
            parent=root_id(document),
            position=ordinal,
            is_turn=False,
        )


def fill(data_dir: Path, passages: int, *, seed: int = 7) -> None:
    """Passages of finished documents in all stores of a data directory that no server uses."""
    asyncio.run(_fill(data_dir, passages, Texts(seed)))


async def _fill(data_dir: Path, passages: int, texts: Texts) -> None:
    profile = PROFILES["minilm"]
    async with open_data_directory(data_dir, clock=SystemClock(), ids=RandomIds()) as stores:
        await stores.vectors.bind_model(profile.model_id, profile.dimensions)
        for first in range(0, passages, PER_DOCUMENT):
            rows = list(index_rows(min(PER_DOCUMENT, passages - first), texts=texts, seed=first, first=first))
            await asyncio.gather(_finished(stores, rows), stores.vectors.upsert(DEFAULT_TENANT, rows))


async def _finished(stores: DataDirectory, rows: list[IndexRow]) -> None:
    now, document = datetime.now(UTC), rows[0].document
    digest = sha256_hex(document.bytes)
    new = NewDocument(
        id=document,
        container=CONTAINER,
        content_type="text",
        media_type="text/plain",
        name=f"{document}.txt",
        size=1,
        sha256=digest,
        blob=f"{DEFAULT_TENANT}/{digest}/1/source",
        fingerprint=digest,
    )
    plan = await stores.catalogue.plan_accept(DEFAULT_TENANT, new)
    await stores.catalogue.accept(DEFAULT_TENANT, new, plan=plan, queue_limit=1_000_000, now=now)
    units = [
        Unit(row.public_id, document, 1, CONTAINER, Kind.PASSAGE, row.position, row.body, row.context, parent=row.parent) for row in rows
    ]
    await stores.catalogue.put_units(DEFAULT_TENANT, document, 1, units, title="", now=now)
    await stores.catalogue.set_end(DEFAULT_TENANT, document, 1, End(DocumentStatus.DONE), now=now)


def turn_bodies(count: int, *, seed: int = 3) -> list[dict[str, object]]:
    """Turns of conversations, 20 to a session, as bodies of `POST /v1/documents`: about 40 tokens of Python's language reference."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    prose = [word for text in topics.values() for word in text.split() if word.isalpha()]
    starts = [draw.randrange(len(prose) - TURN_WORDS) for _ in range(count)]
    return [
        {
            "content": f"{' '.join(prose[start : start + TURN_WORDS])} {seed}.{number}",
            "container": CONTAINER,
            "content_type": "text",
            "metadata": {"session": f"s{seed}.{number // 20}", "speaker": "Ann" if number % 2 else "Ben", "position": number % 20},
        }
        for number, start in enumerate(starts)
    ]


def _document(number: int) -> UUID:
    return keyed_document_id(DEFAULT_TENANT, f"bench-{number}")
