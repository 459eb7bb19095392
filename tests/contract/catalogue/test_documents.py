from __future__ import annotations

from eunoe_contracts.stages import DocumentStatus
from eunoe_stores.catalogue.rows import ContainerRow, DocumentQuery, End, Page
from eunoe_stores.catalogue.sql.catalogue import SqlCatalogue
from eunoe_stores.catalogue.testing import CONTAINER, NOON, TENANT, accept, memory, new_document, passage


async def test_list_is_newest_first_with_the_true_total(catalogue: SqlCatalogue):
    for number in range(5):
        await accept(catalogue, new_document(str(number)))
    await accept(catalogue, new_document("elsewhere", container="x"))
    rows, total = await catalogue.list_documents(TENANT, DocumentQuery(container=CONTAINER), Page(limit=2, offset=1))
    assert ([row.name for row in rows], total) == (["3", "2"], 5)
    assert (await catalogue.list_documents("other", DocumentQuery(), Page()))[1] == 0


async def test_list_by_status_and_custom_id_leaves_out_the_erased(catalogue: SqlCatalogue):
    first = (await accept(catalogue, new_document("1", custom_id="c"))).document
    second = (await accept(catalogue, new_document("2", custom_id="c"))).document
    await accept(catalogue, new_document("3"))
    await catalogue.set_end(TENANT, first.id, 1, End(DocumentStatus.DONE), now=NOON)
    rows, _ = await catalogue.list_documents(TENANT, DocumentQuery(status="done"), Page())
    assert [row.id for row in rows] == [first.id]
    await catalogue.erase(TENANT, first.id, now=NOON)
    rows, total = await catalogue.list_documents(TENANT, DocumentQuery(custom_id="c"), Page())
    assert ([row.id for row in rows], total) == ([second.id], 1)


async def test_list_in_order_of_acceptance(catalogue: SqlCatalogue):
    found = [(await accept(catalogue, new_document(str(number)))).document for number in range(4)]
    await catalogue.erase(TENANT, found[2].id, now=NOON)
    rows, total = await catalogue.list_documents(TENANT, DocumentQuery(after=0), Page(limit=2))
    assert ([row.id for row in rows], total) == ([found[0].id, found[1].id], 3)
    rows, total = await catalogue.list_documents(TENANT, DocumentQuery(after=rows[-1].sequence), Page(limit=2))
    assert ([row.id for row in rows], total) == ([found[3].id], 1)


async def test_documents_by_id(catalogue: SqlCatalogue):
    first = (await accept(catalogue, new_document("1"))).document
    second = (await accept(catalogue, new_document("2"))).document
    await catalogue.erase(TENANT, second.id, now=NOON)
    found = await catalogue.documents_by_id(TENANT, [first.id, second.id, new_document("3").id])
    assert found == {first.id: first}
    assert await catalogue.documents_by_id("other", [first.id]) == {}
    assert await catalogue.documents_by_id(TENANT, []) == {}


async def test_documents_by_title(catalogue: SqlCatalogue):
    by_name = (await accept(catalogue, new_document("folder/Project Plan.md"))).document
    by_metadata = (await accept(catalogue, new_document("x.txt", metadata={"title": "Budget  2026."}))).document
    by_units = (await accept(catalogue, new_document("y.txt"))).document
    await catalogue.put_units(TENANT, by_units.id, 1, [], title="Minutes", now=NOON)
    failed = (await accept(catalogue, new_document("Failed.md"))).document
    await catalogue.set_end(TENANT, failed.id, 1, End(DocumentStatus.FAILED), now=NOON)
    titles = ["project plan", "BUDGET 2026", "minutes", "failed", "unknown", ""]
    assert await catalogue.documents_by_title(TENANT, CONTAINER, titles) == {
        "project plan": by_name.id,
        "BUDGET 2026": by_metadata.id,
        "minutes": by_units.id,
    }
    assert await catalogue.documents_by_title(TENANT, "x", titles) == {}
    newer = (await accept(catalogue, new_document("Minutes.md"))).document
    assert await catalogue.documents_by_title(TENANT, CONTAINER, ["Minutes"]) == {"Minutes": newer.id}


async def test_older_versions(catalogue: SqlCatalogue):
    first = (await accept(catalogue, new_document("1", custom_id="c"))).document.id
    await accept(catalogue, new_document("elsewhere", custom_id="c", container="x"))
    await accept(catalogue, new_document("nameless"))
    second = (await accept(catalogue, new_document("2", custom_id="c"))).document.id
    third = (await accept(catalogue, new_document("3", custom_id="c"))).document.id
    assert await catalogue.older_versions(TENANT, third) == [first, second]
    assert await catalogue.older_versions(TENANT, first) == []
    assert await catalogue.older_versions(TENANT, new_document("nameless").id) == []
    await catalogue.erase(TENANT, first, now=NOON)
    assert await catalogue.older_versions(TENANT, third) == [second]


async def test_containers_and_stats(catalogue: SqlCatalogue):
    document = (await accept(catalogue, new_document("1"))).document.id
    await accept(catalogue, new_document("2", container="team.other"))
    await accept(catalogue, new_document("3", container="Team"))
    gone = (await accept(catalogue, new_document("4", container="gone"))).document.id
    await catalogue.erase(TENANT, gone, now=NOON)
    await catalogue.put_memories(TENANT, document, 1, [memory(document, "A."), memory(document, "B.")], now=NOON)
    await catalogue.put_units(TENANT, document, 1, [passage(document)], title="", now=NOON)
    rows, total = await catalogue.containers(TENANT, prefix="team", page=Page())
    assert total == 2
    assert rows == [ContainerRow(CONTAINER, 2, 1, NOON), ContainerRow("team.other", 0, 1, NOON)]
    rows, total = await catalogue.containers(TENANT, prefix="", page=Page(limit=1))
    assert ([row.name for row in rows], total) == (["Team"], 3)
    assert await catalogue.documents_in(TENANT, CONTAINER) == [document]
    assert await catalogue.documents_in(TENANT, "team") == []
    assert await catalogue.stats(TENANT) == {
        "documents": {"total": 3, "queued": 3},
        "memories": {"total": 2, "embedded": 0, "fact": 2},
        "containers": {"total": 3},
        "dead_letters": {"total": 0},
    }
