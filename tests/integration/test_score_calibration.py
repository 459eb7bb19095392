"""The reported score means the same for every query: off-topic queries stay low, and other documents do not move it.

With the real embedding model and the embedded index; skipped with the reason where the model's files are not there.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from eunoe.v1 import search_pb2
from eunoe_contracts.content import Kind, Unit
from eunoe_contracts.identity import keyed_document_id, passage_id, root_id, row_key
from eunoe_contracts.stages import DocumentStatus
from eunoe_models.artifacts.loading import load_embedder
from eunoe_models.config import ModelSettings
from eunoe_search.config import SearchSettings
from eunoe_search.wiring import build_searcher
from eunoe_stores.catalogue.rows import MemoryRow
from eunoe_stores.sqlite.database import SqliteDatabase
from eunoe_stores.testing import MemoryGraphStore
from eunoe_stores.vectors.port import IndexRow
from eunoe_stores.vectors.sqlite import SqliteVectorIndex
from eunoe_telemetry.clock import SystemClock
from eunoe_telemetry.metrics import Metrics

TENANT = "acme"
WHEN = datetime(2026, 1, 1, tzinfo=UTC)

# Text, and a question that it answers.
CORPUS = (
    ("Feed the sourdough starter every morning with equal weights of rye flour and water.", "How often should I feed my sourdough?"),
    ("The boiler in the cellar must be bled twice a year, in October and in March.", "When does the boiler have to be bled?"),
    ("Backups of the database run at two in the morning and are kept for thirty days.", "How long do we keep database backups?"),
    ("Maria is allergic to peanuts and carries an adrenaline pen in her blue bag.", "What is Maria allergic to?"),
    ("The ferry to the island leaves pier seven at 08:15 and returns at 17:40.", "What time does the island ferry leave?"),
    ("Invoices above five thousand euros need the signature of two directors.", "Who must sign invoices over 5000 euros?"),
    ("The bicycle chain should be oiled after every ride in the rain.", "When should the bike chain be lubricated?"),
    ("Our parental leave policy grants sixteen weeks at full pay to either parent.", "How many weeks of parental leave do parents get?"),
    ("The violin was made in Cremona in 1742 and insured for two million.", "Where was the violin built?"),
    ("Tomatoes in the greenhouse are planted out after the last frost, usually mid May.", "When can tomatoes be planted outside?"),
    (
        "Deploy the web shop with a blue-green switch; roll back by turning the load balancer.",
        "How is a deployment of the shop rolled back?",
    ),
    ("The dog Bruno gets half a tablet against worms every three months.", "How often does Bruno get worming tablets?"),
    ("Error E-4711 means that the printer's fuser unit overheated; let it cool for ten minutes.", "What does printer error E-4711 mean?"),
    ("Grandmother's apple cake needs six tart apples, cinnamon and a pinch of salt.", "Which apples go into grandmother's cake?"),
    ("The museum is closed on Mondays and free on the first Sunday of the month.", "On which day is the museum free?"),
    ("Anna moved from Lisbon to Helsinki in 2021 to work as a marine biologist.", "Why did Anna move to Helsinki?"),
    ("The fire drill assembles everybody at the car park behind building C.", "Where do people gather for the fire drill?"),
    ("Use a torque of forty newton metres for the wheel bolts of the van.", "What torque do the van's wheel bolts need?"),
    ("The wifi password of the guest network changes on the first of each month.", "How often does the guest wifi password change?"),
    ("Paul prefers window seats and vegetarian meals on long flights.", "What meals does Paul prefer when flying?"),
    ("The contract with the cleaning company ends in June unless renewed in writing by April.", "When does the cleaning contract end?"),
    ("Bees in the orchard hives swarm in early summer; check for queen cells weekly.", "When do the bees swarm?"),
    ("Sensor data are sampled at one kilohertz and filtered with a Butterworth low-pass.", "At what rate are the sensors sampled?"),
    ("The choir rehearses on Thursday evenings in the old chapel.", "When does the choir practise?"),
)

OFF_TOPIC = (
    "Life cycle of the monarch butterfly",
    "What is the capital of Mongolia?",
    "Explain the proof of the four colour theorem",
    "How do volcanoes form under the ocean?",
    "Symptoms of iron deficiency in horses",
    "Which treaty ended the thirty years war?",
    "Best opening moves in chess for black",
    "How far away is the Andromeda galaxy?",
    "Lyrics of a famous sea shanty",
    "What did Kant write about perpetual peace?",
    "How is whisky aged in oak barrels?",
    "Tax rates in Singapore for foreigners",
    "When did the last mammoths die out?",
    "How do submarines navigate without satellites?",
    "Knitting pattern for a child's pullover",
    "What causes the northern lights?",
    "Rules of offside in football",
    "Who painted the Night Watch?",
    "How do penguins keep their eggs warm?",
    "Synthesis of aspirin from salicylic acid",
    "Average rainfall in the Atacama desert",
    "What language is spoken in Suriname?",
    "How to fold a paper crane",
    "Orbit and moons of the planet Neptune",
    "Why did the Roman republic fall?",
    "How are diamonds graded?",
    "Which planets have rings?",
    "Difference between jazz and blues scales",
    "How does quantum entanglement work?",
    "Populations of snow leopards in Nepal",
    "Who invented the printing press?",
    "How do you tie a bowline knot?",
    "Plot summary of Don Quixote",
    "What is the gross domestic product of Brazil?",
    "How does a jet engine produce thrust?",
    "History of the Silk Road",
    "Tips for surfing big waves",
    "How many bones does a shark have?",
    "What are the primes below fifty?",
    "Ancient Egyptian burial rites",
    "How is steel made from iron ore?",
    "Casting spells in role playing games",
    "Which countries border Paraguay?",
    "Construction of Gothic cathedrals",
    "Treatment of malaria in the tropics",
    "How do tornadoes get their shape?",
    "Biography of Marie Curie",
    "Etiquette at a Japanese tea ceremony",
    "What is dark matter made of?",
    "Stock market crash of 1929",
)

PLACES = (
    "Veldora",
    "Kestrel Bay",
    "Upper Morn",
    "Tarnhill",
    "Ostrava Road",
    "Pine Hollow",
    "Saltmarsh",
    "Grey Ridge",
    "Lowick",
    "Amberley",
)
SUBJECTS = ("glacier", "opera season", "coal mine", "football club", "observatory", "tram line", "zoo", "parliament", "wind farm", "rally")
EVENTS = (
    "opened to the public",
    "was reviewed by a committee",
    "appears on an old map",
    "lost its funding",
    "was filmed for a documentary",
    "attracted record crowds",
    "was painted by a local artist",
    "is described in a travel guide",
    "won a regional prize",
    "was rebuilt after the storm",
)


class Catalogue:
    """What search reads of the catalogue."""

    def __init__(self) -> None:
        self.units: dict[UUID, Unit] = {}

    async def units_by_id(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, Unit]:
        return {key: self.units[key] for key in ids if key in self.units}

    async def memories(self, tenant: str, ids: Sequence[UUID]) -> Mapping[UUID, MemoryRow]:
        return {}

    async def documents_by_id(self, tenant: str, documents: Sequence[UUID]) -> Mapping[UUID, Any]:
        row = {"custom_id": "", "metadata": {}, "tags": (), "status": DocumentStatus.DONE, "generation": 1}
        return {key: SimpleNamespace(id=key, name="note", created_at=WHEN, updated_at=WHEN, **row) for key in documents}


class Notes:
    """An index of one-passage documents and a searcher on it."""

    def __init__(self, folder: Path, model: Any) -> None:
        self.model = model
        self.catalogue = Catalogue()
        self.index = SqliteVectorIndex(SqliteDatabase(folder / "index.db", synchronous="NORMAL"))

    async def add(self, texts: Sequence[str], *, with_vectors: bool = True) -> None:
        vectors = await self.model.embed(list(texts)) if with_vectors else [None] * len(texts)
        rows = []
        for text, vector in zip(texts, vectors, strict=True):
            document = keyed_document_id(TENANT, text)
            unit = Unit(passage_id(document, 0), document, 1, "notes", Kind.PASSAGE, 0, text, context=text)
            self.catalogue.units[unit.id] = unit
            key, parent = row_key(unit.id, 1), root_id(document)
            rows.append(IndexRow(key, unit.id, document, 1, "notes", Kind.PASSAGE, text, text, vector, parent, 0))
        await self.index.upsert(TENANT, rows)

    async def scores(self, query: str, *, mode: str = "hybrid") -> dict[str, float]:
        searcher = build_searcher(
            SearchSettings(),
            catalogue=self.catalogue,  # type: ignore[arg-type]  # the part that search reads
            vectors=self.index,
            graph=MemoryGraphStore(),
            model=self.model if mode == "hybrid" else None,
            clock=SystemClock(),
            metrics=Metrics(),
        )
        answer = await searcher.search(TENANT, search_pb2.SearchRequest(query=query, limit=100, mode=mode))
        assert not answer.degraded
        return {hit.content: hit.score for hit in answer.results}


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    loaded = load_embedder(ModelSettings())
    if loaded.model is None:
        pytest.skip(f"the embedding model cannot be loaded: {loaded.reason}")
    notes = Notes(tmp_path, loaded.model)
    await notes.add([text for text, _ in CORPUS])
    yield notes
    await notes.index.close()
    await loaded.close()


def unrelated() -> list[str]:
    return [
        f"The {subject} of {place} {event} in {1900 + number % 90}."
        for number, (place, subject, event) in enumerate(itertools.product(PLACES, SUBJECTS, EVENTS))
    ]


async def test_off_topic_queries_stay_low_and_on_topic_ones_are_high(notes: Notes) -> None:
    assert len(OFF_TOPIC) == 50
    low = {query: max((await notes.scores(query)).values(), default=0.0) for query in OFF_TOPIC}
    assert {query: score for query, score in low.items() if score >= 0.3} == {}
    high = {}
    for text, query in CORPUS:
        scores = await notes.scores(query)
        assert next(iter(scores)) == text, query
        high[query] = scores[text]
    assert {query: score for query, score in high.items() if score <= 0.5} == {}


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
async def test_a_thousand_unrelated_documents_do_not_move_a_hit(notes: Notes, mode: str) -> None:
    before = {query: await notes.scores(query, mode=mode) for _, query in CORPUS}
    added = unrelated()
    assert len(set(added)) == 1000
    await notes.add(added)
    for text, query in CORPUS:
        after = await notes.scores(query, mode=mode)
        assert abs(after[text] - before[query][text]) < 0.02, query


async def test_without_vectors_off_topic_queries_stay_low(notes: Notes) -> None:
    low = {query: max((await notes.scores(query, mode="keyword")).values(), default=0.0) for query in OFF_TOPIC}
    assert {query: score for query, score in low.items() if score >= 0.3} == {}
    for text, query in CORPUS:
        assert (await notes.scores(query, mode="keyword")).get(text, 0.0) > 0.1, query
