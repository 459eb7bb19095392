"""Erase documents whose file vanished, after a preview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eunoe.v1 import ingest_pb2, types_pb2

from eunoe_standalone.cli.output import confirmed, say
from eunoe_standalone.cli.sources import SourceFile
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection

PAGE = 500


def documents_of(server: Connection, container: str) -> Iterator[types_pb2.Document]:
    """All documents of a container, page by page."""
    offset = 0
    while True:
        request = ingest_pb2.ListDocumentsRequest(container=container, limit=PAGE, offset=offset)
        page = server.ingest.ListDocuments(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
        yield from page.documents
        offset += len(page.documents)
        if not page.documents or offset >= page.total:
            return


def prune_vanished(server: Connection, container: str, sources: Sequence[SourceFile], *, yes: bool, as_json: bool) -> list[str]:
    """Erase documents of the container that have a custom_id which is not among the sources; returns their custom_ids.

    Asks first unless `yes`; with `--json` and without `--yes` nothing is erased.
    """
    present = {source.custom_id for source in sources}
    gone = [each for each in documents_of(server, container) if each.custom_id and each.custom_id not in present]
    if not gone:
        return []
    if not as_json:
        say(f"{len(gone)} documents of container '{container}' have no file any more:")
        for each in gone:
            say(f"  {each.custom_id}")
    if not yes and (as_json or not confirmed("Erase them?")):
        return []
    for each in gone:
        server.ingest.DeleteDocument(ingest_pb2.DeleteDocumentRequest(id=each.id), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    return [each.custom_id for each in gone]
