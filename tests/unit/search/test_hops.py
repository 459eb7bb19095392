from __future__ import annotations

import itertools
from typing import Any
from uuid import UUID

import pytest
from eunoe_contracts.content import Kind
from eunoe_contracts.identity import passage_id, row_key
from eunoe_search.candidate import Candidate
from eunoe_search.config import SearchSettings
from eunoe_search.fusion import ArmPart
from eunoe_search.hops import Mention, apply_hops
from eunoe_stores.graph.port import Node, NodeKind
from eunoe_stores.vectors.port import RowRef

SETTINGS = SearchSettings(hop_decay=0.7, hop_bonus=0.2, hop_targets=2)


def row(number: int) -> RowRef:
    return RowRef(UUID(int=number), UUID(int=number + 100), UUID(int=number + 200), 1, "c", Kind.PASSAGE, UUID(int=1), 0)


def candidates(**scores: float) -> dict[UUID, Candidate]:
    rows = {int(name[1:]): score for name, score in scores.items()}
    return {UUID(int=number): Candidate(row(number), arms={"dense": ArmPart(score, 1, score)}) for number, score in rows.items()}


def mention(source: int, target: int, score: float) -> Mention:
    return Mention(UUID(int=source), UUID(int=target + 200), score)


def test_a_target_gets_a_share_of_its_best_source_or_its_own_score_and_a_bonus() -> None:
    found = candidates(r1=1.0, r2=0.8, r3=0.1, r4=0.9)
    mentions = [mention(1, 3, 1.0), mention(2, 3, 0.8), mention(1, 4, 1.0), mention(2, 5, 0.8)]
    apply_hops(found, mentions, {row(each).document: row(each) for each in (4, 3, 5)}, SETTINGS)
    assert found[UUID(int=3)].score == pytest.approx(0.7)
    assert found[UUID(int=4)].score == pytest.approx(1.1)
    assert found[UUID(int=5)].score == pytest.approx(0.56)
    assert found[UUID(int=1)].score == 1.0


def test_a_source_lifts_its_best_targets_only() -> None:
    found = candidates(r1=1.0)
    mentions = [mention(1, target, 1.0) for target in range(2, 9)]
    apply_hops(found, mentions, {row(each).document: row(each) for each in (7, 3, 5, 2)}, SETTINGS)
    assert set(found) == {UUID(int=number) for number in (1, 7, 3)}


async def linked(library: Any, order: tuple[str, ...]) -> dict[str, UUID]:
    texts = {"bread": "Bread needs flour. See the starter guide.", "guide": "A jar on the shelf.", "chain": "A bicycle chain."}
    documents = {name: await library.add(name, texts[name]) for name in order}
    await library.mention(documents["bread"], documents["guide"])
    return documents


async def test_what_the_best_hit_mentions_comes_up(library: Any) -> None:
    documents = await linked(library, ("chain", "guide", "bread"))
    names = [hit.source.name for hit in (await library.search("flour for bread")).results]
    assert names[:2] == ["bread", "guide"]
    library.settings = SearchSettings(hop_sources=0)
    assert "mention_hop" not in (await library.explain("flour for bread", passage_id(documents["guide"], 0))).hit.arms


async def test_what_is_mentioned_has_a_share_of_the_evidence(words_only: Any) -> None:
    documents = await linked(words_only, ("chain", "guide", "bread"))
    bread, guide = (await words_only.search("flour")).results
    assert guide.document_id == str(documents["guide"])
    assert guide.score == pytest.approx(0.3 * bread.score, rel=1e-3)


async def test_the_hop_does_not_depend_on_the_order_of_arrival(library: Any) -> None:
    answers = []
    for order in itertools.permutations(("bread", "guide", "chain")):
        fresh = type(library)()
        await linked(fresh, order)
        answers.append([(hit.id, round(hit.fused, 9)) for hit in (await fresh.search("flour for bread")).results])
    assert all(answer == answers[0] for answer in answers)


async def test_two_that_mention_each_other_do_not_feed_each_other(library: Any) -> None:
    one, two = await library.add("one", "bread flour"), await library.add("two", "bread flour water")
    await library.mention(one, two)
    await library.mention(two, one)
    first = await library.search("bread flour", explain=True)
    plain = SearchSettings(hop_sources=0)
    library.settings = plain
    without = {hit.id: hit.fused for hit in (await library.search("bread flour")).results}
    best = max(without.values())
    for hit in first.results:
        assert hit.fused <= max(without[hit.id], 0.9 * best, without[hit.id] + 0.2 * best) + 1e-9


async def test_a_target_outside_the_containers_is_not_reached(library: Any) -> None:
    bread = await library.add("bread", "bread flour", container="a")
    secret = await library.add("secret", "a jar", container="b")
    await library.mention(bread, secret)
    answer = await library.search("bread flour", containers=["a"])
    assert {hit.document_id for hit in answer.results} == {str(bread)}
    assert str(secret) in {hit.document_id for hit in (await library.search("bread flour")).results}


async def test_a_target_that_many_mention_is_skipped(library: Any) -> None:
    index = await library.add("index", "a jar")
    bread = await library.add("bread", "bread flour")
    await library.mention(bread, index)
    for number in range(20):
        await library.mention(await library.add(f"other {number}", f"ferry {number}"), index)
    hit = (await library.explain("bread flour", passage_id(index, 0))).hit
    assert "mention_hop" not in hit.arms


async def test_without_a_model_a_target_with_no_shared_word_is_found(words_only: Any) -> None:
    await linked(words_only, ("chain", "guide", "bread"))
    names = [hit.source.name for hit in (await words_only.search("flour")).results]
    assert names == ["bread", "guide"]
    filtered = await words_only.search("flour", filters={"tags": ["x"]})
    assert not filtered.results


async def test_related_hits_have_their_text(library: Any) -> None:
    await linked(library, ("chain", "guide", "bread"))
    hit = (await library.search("flour for bread", include_related=True, limit=1)).results[0]
    assert [(each.memory.content, each.relationship_type) for each in hit.related] == [("guide", "mentions_document")]
    assert not (await library.search("flour for bread", limit=1)).results[0].related


async def test_a_document_whose_title_the_question_names_is_raised(library: Any) -> None:
    await library.add("Marrow Lake", "A dam raised its level by nine metres.")
    await library.add("Dams", "What is built, and where: dams, what they hold, what is built behind them.")
    question = "What is built on Marrow Lake?"
    named = {hit.source.name: hit for hit in (await library.search(question, explain=True)).results}
    plain = {hit.source.name: hit for hit in (await library.search(question, explain=True, ablate=["title_named"])).results}
    bonus = SearchSettings().title_named
    assert named["Marrow Lake"].arms["title_named"].contribution == pytest.approx(bonus)
    assert named["Marrow Lake"].fused == pytest.approx(plain["Marrow Lake"].fused + bonus)
    assert named["Dams"].fused == pytest.approx(plain["Dams"].fused)


async def test_a_title_that_two_documents_share_names_none_and_other_containers_stay_out(library: Any) -> None:
    await library.add("Fort Hallow", "A ruin above the Sound.", container="north.a")
    other = await library.add("museum", "Hallow is a fort, too.", container="north.b")
    node = Node(row_key(other, 1), NodeKind.DOCUMENT, other, "north.b", other, 1, "Fort Hallow")
    await library.graph.upsert("acme", [node], [])
    for containers, titled in (([], 0), (["north.*"], 0), (["north.a"], 1), (["south"], 0)):
        hits = (await library.search("Who held Fort Hallow?", containers=containers, explain=True)).results
        assert sum("title_named" in hit.arms for hit in hits) == titled, containers
