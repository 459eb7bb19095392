"""What a repeated post adds to a document is found, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

from eunoe.v1 import ingest_pb2, search_pb2
from eunoe_gateway.publishing import Publisher
from eunoe_standalone.testing_pipeline import OPERATOR, Pipeline, pipeline, until


async def merge_tag(running: Pipeline, text: str, tag: str) -> None:
    info = ingest_pb2.ContentInfo(container="notes", tags=[tag])
    answer = await running.parts.application.ingest(OPERATOR, ingest_pb2.IngestRequest(info=info, text=text))
    assert list(answer.acceptance.updated) == ["tags"]


async def test_a_tag_added_by_a_repeated_post_filters(tmp_path: Path) -> None:
    async with pipeline(tmp_path) as running:
        document = await running.post("The gauge reads seven.")
        await running.ended(document)
        info = ingest_pb2.ContentInfo(container="notes", tags=["river"])
        info.metadata.update({"owner": "ann"})
        answer = await running.parts.application.ingest(OPERATOR, ingest_pb2.IngestRequest(info=info, text="The gauge reads seven."))
        assert answer.acceptance.deduplicated
        assert list(answer.acceptance.updated) == ["tags", "metadata"]

        async def found() -> bool:
            request = search_pb2.SearchRequest(query="gauge")
            request.filters.update({"tags": ["river"], "metadata": {"owner": "ann"}})
            return bool((await running.parts.application.search(OPERATOR, request)).results)

        await until(found, within_s=4, what=lambda: "the tag is not found")


async def test_an_edit_whose_event_was_lost_reaches_the_index_all_the_same(tmp_path: Path) -> None:
    async def killed(*_: Any, **__: Any) -> None:
        """Where a gateway dies between the catalogue and the log."""

    text = "The gauge reads seven."
    async with pipeline(tmp_path, sweep_interval_s=0.05, sweep_after_s=0.2) as running:
        document = await running.post(text)
        await running.ended(document)
        with patch.object(Publisher, "publish", killed):
            await merge_tag(running, text, "river")

        async def found() -> bool:
            request = search_pb2.SearchRequest(query="gauge")
            request.filters.update({"tags": ["river"]})
            return bool((await running.parts.application.search(OPERATOR, request)).results)

        await until(found, what=lambda: "the tag is not found")
        assert await running.stores.catalogue.unpublished_edits(before=running.parts.clock.now(), limit=10) == []
