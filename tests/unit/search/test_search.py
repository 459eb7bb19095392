from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from eunoe.v1 import search_pb2
from eunoe_contracts.content import Kind
from eunoe_contracts.errors import CapabilityUnavailable, MemoryNotFound, StoreUnavailable
from eunoe_contracts.identity import passage_id
from eunoe_contracts.stages import DocumentStatus
from eunoe_models.embedding.port import Lane
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TOPICS = ("sourdough bread starter", "bicycle chain repair", "tomato garden soil", "violin bow rosin", "harbour ferry timetable")


async def fill(library: Any) -> dict[str, Any]:
    return {topic: await library.add(topic.split()[0], f"Notes about {topic} for the weekend.", page=2) for topic in TOPICS}


async def test_a_hit_is_cited(library: Any) -> None:
    documents = await fill(library)
    answer = await library.search("sourdough starter", explain=True)
    hit = answer.results[0]
    document = documents[TOPICS[0]]
    assert (hit.id, hit.document_id) == (str(passage_id(document, 0)), str(document))
    assert hit.content == "Notes about sourdough bread starter for the weekend."
    assert (hit.kind, hit.memory_type, hit.container, hit.is_latest) == ("passage", "passage", "notes", True)
    assert (hit.source.name, hit.source.custom_id, hit.source.page) == ("sourdough", "custom-sourdough", 2)
    assert list(hit.source.heading_path) == ["sourdough", "Part"]
    assert hit.metadata["shelf"] == 3
    assert hit.created_at.seconds > 0
    assert set(hit.arms) >= {"dense", "bm25_body", "bm25_context", "parent_bm25"}
    assert hit.arms["dense"].rank == 1
    assert (answer.query, answer.limit, answer.offset, list(answer.degraded)) == ("sourdough starter", 10, 0, [])
    assert not (await library.search("sourdough starter")).results[0].arms


async def test_queries_take_the_interactive_lane(library: Any) -> None:
    await fill(library)
    library.model.calls.clear()
    await library.search("bread")
    assert library.model.calls == [(Lane.INTERACTIVE, 1)]


async def test_pages_continue_each_other(library: Any) -> None:
    for number in range(25):
        await library.add(f"n{number}", f"weekend plan number {number}")
    whole = await library.search("weekend plan", limit=25)
    pages = [await library.search("weekend plan", limit=10, offset=offset) for offset in (0, 10, 20)]
    assert [hit.id for page in pages for hit in page.results] == [hit.id for hit in whole.results]
    assert [hit.score for page in pages for hit in page.results] == [hit.score for hit in whole.results]
    assert {page.total for page in pages} == {25}
    assert not (await library.search("weekend plan", offset=500)).results


async def test_an_erased_document_vanishes_and_the_next_fills_in(library: Any) -> None:
    documents = await fill(library)
    before = await library.search("sourdough weekend", limit=3)
    del library.catalogue.documents[documents[TOPICS[0]]]
    after = await library.search("sourdough weekend", limit=3)
    assert len(before.results) == len(after.results) == 3
    assert str(documents[TOPICS[0]]) not in {hit.document_id for hit in after.results}
    assert after.total == before.total - 1


@pytest.mark.parametrize("status", [DocumentStatus.FAILED, DocumentStatus.CANCELLED])
async def test_rows_of_a_failed_generation_are_not_answered(library: Any, status: DocumentStatus) -> None:
    await library.add("broken", "sourdough", status=status)
    assert not (await library.search("sourdough")).results


async def test_an_older_generation_is_readable_while_the_new_one_has_failed(library: Any) -> None:
    await library.add("kept", "sourdough")
    document = next(iter(library.catalogue.documents))
    row = library.catalogue.documents[document]
    library.catalogue.documents[document] = type(row)(
        **{name: getattr(row, name) for name in row.__slots__} | {"generation": 2, "status": DocumentStatus.FAILED}
    )
    assert len((await library.search("sourdough")).results) == 1


async def test_two_generations_of_a_passage_are_one_hit(library: Any) -> None:
    await library.add("guide", "sourdough bread")
    await library.add("guide", "sourdough bread", generation=2)
    answer = await library.search("sourdough")
    assert (len(answer.results), answer.total) == (1, 1)


async def test_containers_and_inheritance(library: Any) -> None:
    for container in ("team", "team.web", "team.web.ui", "other"):
        await library.add(f"in {container}", "the release plan", container=container)

    async def found(*containers: str, inherit: bool = False) -> set[str]:
        return {hit.container for hit in (await library.search("release plan", containers=containers, inherit=inherit)).results}

    assert await found("team.web") == {"team.web"}
    assert await found("team.web", inherit=True) == {"team.web", "team"}
    assert await found("team.*") == {"team.web", "team.web.ui"}
    assert await found() == {"team", "team.web", "team.web.ui", "other"}
    assert await found("nowhere") == set()


async def test_another_tenant_sees_nothing(library: Any) -> None:
    await fill(library)
    answer = await library.searcher.search("globex", search_pb2.SearchRequest(query="bread"))
    assert (list(answer.results), answer.total) == ([], 0)


async def test_filters_change_the_result(library: Any) -> None:
    red = await library.add("red", "the plan", tags=["red"])
    await library.add("blue", "the plan", tags=["blue"])
    assert {hit.document_id for hit in (await library.search("plan", filters={"tags": ["red"]})).results} == {str(red)}
    assert {hit.document_id for hit in (await library.search("plan", filters={"document_id": str(red)})).results} == {str(red)}
    assert not (await library.search("plan", filters={"kinds": ["fact"]})).results


async def test_memories_are_hits_and_superseded_ones_come_back_ranked_down(library: Any) -> None:
    document = await library.add("chat", "we talked for a while")
    old = await library.remember("Ann lives in Paris", document, is_latest=False)
    new = await library.remember("Ann lives in Oslo now", document)
    answer = await library.search("where does Ann live, in Paris")
    assert [hit.id for hit in answer.results if hit.kind == Kind.FACT] == [str(new)]
    assert answer.results[0].source.name == "chat"
    every = await library.search("where does Ann live, in Paris", filters={"latest_only": False})
    facts = [hit for hit in every.results if hit.kind == Kind.FACT]
    assert [hit.id for hit in facts] == [str(new), str(old)]
    assert [hit.is_latest for hit in facts] == [True, False]


async def test_a_memory_whose_sources_are_erased_is_not_answered(library: Any) -> None:
    document = await library.add("chat", "hello")
    await library.remember("Ann lives in Oslo", document)
    del library.catalogue.documents[document]
    assert not (await library.search("Ann Oslo")).results


@pytest.mark.parametrize("arm", ["dense", "bm25_body", "bm25_context", "bm25_parent"])
@pytest.mark.parametrize("how", ["failing", "hanging"])
async def test_a_failed_arm_is_named(library: Any, arm: str, how: str) -> None:
    await fill(library)
    library.settings = library.settings.model_copy(update={"arm_timeout_s": 0.05})
    getattr(library.vectors, how).add(arm)
    answer = await library.search("sourdough starter")
    assert list(answer.degraded) == [arm]
    assert answer.results[0].source.name == "sourdough"
    count = library.metrics.registry.get_sample_value("eunoe_search_degraded_total", {"arm": arm})
    assert count == 1


async def test_a_failed_model_leaves_the_words(library: Any) -> None:
    await fill(library)
    library.model.failing = True
    answer = await library.search("sourdough starter")
    assert (list(answer.degraded), answer.results[0].source.name) == (["dense"], "sourdough")


async def test_a_failed_graph_is_named(library: Any) -> None:
    await fill(library)
    library.graphs.failing.add("neighbours")
    answer = await library.search("sourdough starter", include_related=True)
    assert list(answer.degraded) == ["graph"]
    assert answer.results[0].source.name == "sourdough"


async def test_no_arm_at_all_is_an_error(library: Any) -> None:
    library.vectors.failing |= {"dense", "bm25_body", "bm25_context"}
    with pytest.raises(StoreUnavailable):
        await library.search("bread")


async def test_modes_are_their_arms(library: Any) -> None:
    await fill(library)
    keyword = await library.search("sourdough starter", mode="keyword", explain=True)
    vector = await library.search("sourdough starter", mode="vector", explain=True)
    assert set(keyword.results[0].arms) == {"bm25_body", "bm25_context"}
    assert set(vector.results[0].arms) == {"dense"}
    assert keyword.total < vector.total == len(TOPICS)


async def test_without_a_model_words_are_enough(words_only: Any) -> None:
    await fill(words_only)
    answer = await words_only.search("sourdough starter")
    assert (answer.results[0].source.name, list(answer.degraded)) == ("sourdough", [])
    assert answer.results[0].score == 1.0
    with pytest.raises(CapabilityUnavailable):
        await words_only.search("sourdough", mode="vector")


async def test_explain_names_every_part(library: Any) -> None:
    documents = await fill(library)
    answer = await library.explain("sourdough starter", passage_id(documents[TOPICS[0]], 0))
    assert {"dense", "bm25_body", "bm25_context", "parent_bm25", "parent_dense"} <= set(answer.hit.arms)
    assert sum(part.contribution for part in answer.hit.arms.values()) == pytest.approx(answer.hit.fused)
    assert {"dense", "bm25_body", "bm25_context", "fusion", "hop", "calibration"} <= set(answer.timings_ms)
    with pytest.raises(MemoryNotFound):
        await library.explain("sourdough starter", uuid4())


async def test_the_next_turn_of_a_session_lifts_the_one_before(library: Any) -> None:
    question = await library.add("turn 1", "And did you choose anything?", session="s", position=0)
    await library.add("turn 2", "Yes, the violin, and rosin for the bow", session="s", position=1)
    await library.add("turn 3", "Did you choose a train?", session="t", position=0)
    answer = await library.search("choose violin rosin", explain=True)
    hit = next(hit for hit in answer.results if hit.document_id == str(question))
    assert hit.arms["following"].contribution > 0


async def test_the_store_is_asked_a_fixed_number_of_times(library: Any) -> None:
    for number in range(60):
        await library.add(f"n{number}", f"weekend plan number {number}")
    library.catalogue.calls.clear()
    searcher, request = library.searcher, search_pb2.SearchRequest(query="weekend plan", limit=50)
    await searcher.search("acme", request)
    assert library.catalogue.calls == ["units_by_id", "units_by_id", "documents_by_id"]
    library.catalogue.calls.clear()
    await searcher.search("acme", request)
    assert library.catalogue.calls == ["units_by_id", "documents_by_id"], "the signs of turns are read once"


async def test_hits_that_score_nothing_are_left_out_but_can_be_explained(library: Any) -> None:
    documents = [await library.add(f"note {number}", f"word{number}") for number in range(80)]
    answer = await library.search("violin", limit=100)
    shown = {hit.document_id for hit in answer.results}
    hidden = [document for document in documents if str(document) not in shown]
    assert 0 < len(hidden) < 80
    assert answer.total == len(shown) == 80 - len(hidden)
    assert all(hit.score >= 0.005 for hit in answer.results)
    assert all([(await library.explain("violin", passage_id(document, 0))).hit.score < 0.005 for document in hidden])


WORDS = st.lists(st.sampled_from(["bread", "chain", "soil", "bow", "ferry", "weekend", "zebra", "the"]), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS, st.sampled_from(["hybrid", "keyword", "vector"]), st.sampled_from(["minmax", "rrf"]))
async def test_scores_fall_and_stay_between_zero_and_one(library: Any, words: list[str], mode: str, fusion: str) -> None:
    if not library.catalogue.documents:
        await fill(library)
    hits = (await library.search(" ".join(words), mode=mode, fusion=fusion)).results
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert [hit.fused for hit in hits] == sorted((hit.fused for hit in hits), reverse=True)
    assert len({hit.id for hit in hits}) == len(hits)
