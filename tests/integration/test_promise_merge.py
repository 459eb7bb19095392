"""What a repeated post adds to a document is found, too."""

from __future__ import annotations

from pathlib import Path

from eunoe.v1 import ingest_pb2, search_pb2
from eunoe_standalone.testing_pipeline import OPERATOR, pipeline, until


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
