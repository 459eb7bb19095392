"""`eunoe forget`."""

from __future__ import annotations

from typing import Annotated

import typer
from eunoe.v1 import container_pb2, ingest_pb2

from eunoe_standalone.cli.options import AsJson, DataDir, resolved
from eunoe_standalone.cli.output import Exit, fail, print_json, reported_errors
from eunoe_standalone.client import CALL_TIMEOUT_S, connect


def forget(
    documents: Annotated[list[str] | None, typer.Argument(help="Document ids.")] = None,
    container: Annotated[str, typer.Option("--container", "-c", help="Erase every document of this container.")] = "",
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Erase documents, or a whole container. What is erased does not come back."""
    if bool(documents) == bool(container):
        fail("name document ids or --container, not both", Exit.USAGE)
    if container and not yes and (as_json or not typer.confirm(f"Erase every document of container '{container}'?", err=True)):
        fail("nothing was erased; add --yes to confirm", Exit.USAGE)
    with reported_errors(), connect(resolved(data_dir)) as server:
        if container:
            whole = container_pb2.ContainerServiceDeleteRequest(name=container, confirm=True)
            count = server.containers.Delete(whole, timeout=CALL_TIMEOUT_S, metadata=server.metadata).deleted_count
        else:
            for document in documents or []:
                request = ingest_pb2.DeleteDocumentRequest(id=document)
                server.ingest.DeleteDocument(request, timeout=CALL_TIMEOUT_S, metadata=server.metadata)
            count = len(documents or [])
    if as_json:
        print_json({"erased": count})
        return
    typer.echo(f"erased {count} document{'' if count == 1 else 's'}")
