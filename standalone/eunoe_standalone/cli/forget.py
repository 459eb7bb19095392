"""`eunoe forget`."""

from __future__ import annotations

from typing import Annotated

import grpc
import typer
from eunoe.v1 import container_pb2, ingest_pb2

from eunoe_standalone.cli.options import AsJson, DataDir, ServerAddress, chosen
from eunoe_standalone.cli.output import Exit, confirmed, fail, print_json, reported_errors, rpc_failure, say
from eunoe_standalone.client import CALL_TIMEOUT_S, Connection, connect


def forget(
    documents: Annotated[list[str] | None, typer.Argument(help="Document ids.")] = None,
    container: Annotated[str, typer.Option("--container", "-c", help="Erase every document of this container.")] = "",
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    address: ServerAddress = "",
    as_json: AsJson = False,
) -> None:
    """Erase documents, or a whole container. What is erased does not come back."""
    if bool(documents) == bool(container):
        fail("name document ids or a --container, one of the two", Exit.USAGE)
    if container and not yes and (as_json or not confirmed(f"Erase every document of container '{container}'?")):
        fail("nothing was erased; add --yes to confirm", Exit.USAGE)
    with reported_errors(), connect(chosen(data_dir, address)) as server:
        if container:
            whole = container_pb2.ContainerServiceDeleteRequest(name=container, confirm=True)
            count = server.containers.Delete(whole, timeout=CALL_TIMEOUT_S, metadata=server.metadata).deleted_count
        else:
            count = sum(erased(server, document) for document in documents or [])
    if as_json:
        print_json({"erased": count})
    else:
        typer.echo(f"erased {count} document{'' if count == 1 else 's'}")
    if documents and count < len(documents):
        raise typer.Exit(Exit.SOME_FAILED if len(documents) > 1 else Exit.USAGE)


def erased(server: Connection, document: str) -> bool:
    """Erase one document; False, and a line that names it, when there is none with that id."""
    try:
        server.ingest.DeleteDocument(ingest_pb2.DeleteDocumentRequest(id=document), timeout=CALL_TIMEOUT_S, metadata=server.metadata)
    except grpc.RpcError as error:
        message, code = rpc_failure(error)
        if code is not Exit.USAGE:
            raise
        say(f"eunoe: {document}: {message}")
        return False
    return True
