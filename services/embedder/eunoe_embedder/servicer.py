"""The internal gRPC door: texts to vectors, for search. It only translates."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

import grpc
from eunoe.v1 import embed_pb2, embed_pb2_grpc
from eunoe_contracts.errors import CapabilityUnavailable, EunoeError, InvalidField
from eunoe_models.embedding.port import EmbeddingModel, Lane, Role
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

Choice = TypeVar("Choice", Lane, Role)


class EmbedServicer(embed_pb2_grpc.EmbedServiceServicer):
    """`eunoe.v1.EmbedService`. Calls take the interactive lane unless they ask for bulk."""

    def __init__(self, model: EmbeddingModel | None, *, request_texts: int) -> None:
        self._model = model
        self._request_texts = request_texts

    async def Embed(self, request: embed_pb2.EmbedRequest, context: Any) -> embed_pb2.EmbedResponse:  # noqa: N802 - gRPC's name
        """Vectors in the order of the texts."""
        try:
            return await self._embedded(request)
        except EunoeError as error:
            await _abort(context, error)

    async def _embedded(self, request: embed_pb2.EmbedRequest) -> embed_pb2.EmbedResponse:
        if self._model is None:
            raise CapabilityUnavailable("no embedding model is loaded; run `eunoe models pull` and start again")
        if len(request.texts) > self._request_texts:
            raise InvalidField(f"texts: at most {self._request_texts}")
        lane = _member(Lane, "lane", request.lane or Lane.INTERACTIVE)
        role = _member(Role, "role", request.role or Role.QUERY)
        vectors = await self._model.embed(list(request.texts), lane=lane, role=role)
        return embed_pb2.EmbedResponse(
            model_id=self._model.profile.model_id, vectors=[embed_pb2.Vector(values=vector.tolist()) for vector in vectors]
        )


def add_to(server: grpc.aio.Server, *, model: EmbeddingModel | None, request_texts: int) -> None:
    """Register the servicer."""
    embed_pb2_grpc.add_EmbedServiceServicer_to_server(EmbedServicer(model, request_texts=request_texts), server)


def _member(kind: type[Choice], field: str, value: str) -> Choice:
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidField(f"{field}: one of {', '.join(kind)}") from error


async def _abort(context: Any, error: EunoeError) -> NoReturn:
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=error.code, domain="eunoe"))
    status = status_pb2.Status(code=int(error.grpc_status), message=error.message, details=[detail])
    await context.abort_with_status(rpc_status.to_status(status))
    raise AssertionError("abort_with_status raises") from error
