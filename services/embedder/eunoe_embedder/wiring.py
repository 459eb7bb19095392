"""What the embedder offers to a process."""

from __future__ import annotations

from functools import partial
from typing import Any

from eunoe_contracts import readers, topics
from eunoe_contracts.stages import Stage
from eunoe_models.embedding.port import EmbeddingModel
from eunoe_stores.catalogue.port import Catalogue
from eunoe_stores.vectors.port import VectorIndex
from eunoe_stream.subscription import Advance, Handler, Service, Subscription, Undo

from eunoe_embedder import service
from eunoe_embedder.config import EmbedderSettings
from eunoe_embedder.servicer import add_to

NAME = "embedder"
GROUP = readers.EMBED


def build(settings: EmbedderSettings, *, catalogue: Catalogue, vectors: VectorIndex, model: EmbeddingModel | None) -> Service:
    """Four subscriptions (passages, memories, edits, erasures) and the Embed RPC. `bind` first."""
    ports: dict[str, Any] = {"catalogue": catalogue, "vectors": vectors, "model": model}
    undo = partial(service.undo, catalogue=catalogue, vectors=vectors)

    def subscription(topic: str, handler: Handler, stage: Stage | None, undo: Undo | None, advance: Advance | None = None) -> Subscription:
        return Subscription(
            topic=topic,
            group=GROUP,
            handler=handler,
            stage=stage,
            undo=undo,
            concurrency=settings.concurrency,
            deadline_s=settings.deadline_s,
            max_attempts=settings.max_attempts,
            advance=advance,
        )

    # Only this handler passes over what is written already; the others would begin anew each time.
    advance = partial(_passages_computed, model) if model is not None else None
    return Service(
        NAME,
        subscriptions=(
            subscription(topics.DOCUMENT_EXTRACTED, partial(service.embed, **ports), Stage.EMBED, undo, advance),
            subscription(topics.MEMORIES_PROPOSED, partial(service.embed_memories, **ports), Stage.EMBED_MEMORIES, undo),
            subscription(topics.MEMORY_CHANGED, partial(service.follow_change, **ports), None, None),
            subscription(topics.DOCUMENT_ERASED, partial(service.erase, **ports), None, None),
        ),
        servicers=(partial(add_to, model=model, request_texts=settings.request_texts),),
    )


def _passages_computed(model: EmbeddingModel) -> int:
    return model.passages_computed


async def bind(vectors: VectorIndex, model: EmbeddingModel | None) -> None:
    """Tie the index to the model, before anything is embedded. Raises `ModelMismatch` with advice when the index holds vectors
    of another model. Without a model nothing is bound: words are searched, and vectors that are there stay.
    """
    if model is not None:
        await vectors.bind_model(model.profile.model_id, model.profile.dimensions)
