"""The embedding model of another process: queries become vectors by the embedder's `Embed` call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from eunoe.v1 import embed_pb2
from eunoe_contracts.errors import EunoeError, ModelUnavailable
from eunoe_models.embedding.port import Lane, ModelProfile, Role, Vectors
from eunoe_process.internal_client import Callee

EMBED = "/eunoe.v1.EmbedService/Embed"


@dataclass(frozen=True, slots=True)
class RemoteEmbedder:
    """`EmbeddingModel` over gRPC. `profile` is that of the configured model; an embedder that runs another one is not believed."""

    profile: ModelProfile
    embedders: Callee

    @property
    def passages_computed(self) -> int:
        """None: another process computes."""
        return 0

    async def embed(self, texts: Sequence[str], *, lane: Lane = Lane.BULK, role: Role = Role.PASSAGE) -> Vectors:
        """As the port says. Raises `ModelUnavailable` whatever went wrong over there, so that the words may answer alone."""
        if not texts:
            return np.zeros((0, self.profile.dimensions), np.float32)
        request = embed_pb2.EmbedRequest(texts=texts, lane=lane.value, role=role.value)
        try:
            answer = await self.embedders.call(EMBED, request, embed_pb2.EmbedResponse)
        except ModelUnavailable:
            raise
        except EunoeError as error:
            raise ModelUnavailable(f"the embedder: {error.message}") from error
        if answer.model_id != self.profile.model_id:
            raise ModelUnavailable(f"the embedder runs {answer.model_id}, this process expects {self.profile.model_id}")
        if [len(each.values) for each in answer.vectors] != [self.profile.dimensions] * len(texts):
            raise ModelUnavailable("the embedder gave vectors of another shape")
        return np.array([each.values for each in answer.vectors], np.float32)
