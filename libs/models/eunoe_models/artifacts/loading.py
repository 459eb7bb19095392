"""From settings to an embedding model, or to an honest reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_contracts.errors import EunoeError, ModelMissing
from eunoe_telemetry.metrics import Metrics

from eunoe_models.artifacts.cache import build, is_intact, is_ready, model_dir
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.batcher import BatchLimits
from eunoe_models.embedding.characters import CharacterCounter
from eunoe_models.embedding.port import TokenCounter
from eunoe_models.embedding.profiles import PROFILES
from eunoe_models.embedding.runtime import TOKENISER_FILE, OnnxEmbedder
from eunoe_models.embedding.wordpiece import SPECIAL_TOKENS, WordPiece


@dataclass(frozen=True, slots=True)
class Loaded:
    """`model` is None for search by words only; `reason` then says why and what to do. `counter` is always there."""

    model: OnnxEmbedder | None
    counter: TokenCounter
    reason: str = ""

    async def close(self) -> None:
        """Release the model, if any. May be called twice."""
        if self.model is not None:
            await self.model.close()


def load_embedder(settings: ModelSettings, *, metrics: Metrics | None = None) -> Loaded:
    """Load the configured model. Never downloads and never fails: without the files it answers with the reason.

    When the files are there but the graph is of another builder version, it is built first (a second or two).
    """
    if settings.profile == "none":
        return Loaded(None, CharacterCounter(), "no embedding model is configured (EUNOE_MODELS__PROFILE=none)")
    try:
        if not is_intact(settings.profile, settings=settings):
            build(settings.profile, settings=settings, force=True)
        model = OnnxEmbedder(
            model_dir(settings.profile, settings=settings),
            PROFILES[settings.profile],
            threads=settings.threads,
            limits=BatchLimits(tokens=settings.batch_tokens, wait_s=settings.batch_wait_ms / 1000),
            metrics=metrics,
        )
    except EunoeError as error:
        return Loaded(None, CharacterCounter(), error.message)
    except ImportError as error:
        missing = error.name or "a library"
        return Loaded(None, CharacterCounter(), f"{missing} cannot be imported; install it, or set EUNOE_MODELS__PROFILE=none")
    return Loaded(model, model.counter)


def require_embedder(settings: ModelSettings, *, metrics: Metrics | None = None) -> Loaded:
    """As `load_embedder`, for a process that other processes rely on: a configured model that is not there is refused. Without this, one
    embedder without files would quietly write rows that only words find. Raises `ModelMissing`.
    """
    loaded = load_embedder(settings, metrics=metrics)
    if loaded.model is None and settings.profile != "none":
        raise ModelMissing(f"{loaded.reason}; or set EUNOE_MODELS__PROFILE=none in every process to search by words only")
    return loaded


def load_counter(settings: ModelSettings) -> TokenCounter | None:
    """Only the configured model's tokenizer, for a process that cuts texts and embeds none: passages must fit the model's window.

    None for search by words only. Raises `ModelMissing`.
    """
    if settings.profile == "none":
        return None
    if not is_ready(settings.profile, settings=settings):
        raise ModelMissing(f"the model {settings.profile} is not in {settings.dir}; run `eunoe models pull {settings.profile}`")
    tokeniser = model_dir(settings.profile, settings=settings) / TOKENISER_FILE
    return WordPiece(tokeniser, max_length=PROFILES[settings.profile].window + SPECIAL_TOKENS).counter()
