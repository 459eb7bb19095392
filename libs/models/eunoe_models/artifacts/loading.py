"""From settings to an embedding model, or to an honest reason why there is none. The one place that chooses by backend."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eunoe_contracts.errors import EunoeError, ModelMissing
from eunoe_telemetry.metrics import Metrics

from eunoe_models.artifacts.cache import build, is_intact, is_ready, model_dir
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.batcher import BatchLimits
from eunoe_models.embedding.characters import CharacterCounter
from eunoe_models.embedding.port import Calibration, LocalModel, ModelProfile, TokenCounter
from eunoe_models.embedding.profiles import PROFILES
from eunoe_models.embedding.runtime import TOKENISER_FILE, OnnxEmbedder
from eunoe_models.embedding.sentence_folder.description import FolderDescription, described
from eunoe_models.embedding.sentence_folder.embedder import FolderEmbedder
from eunoe_models.embedding.sentence_folder.library import opened
from eunoe_models.embedding.wordpiece import SPECIAL_TOKENS, WordPiece


@dataclass(frozen=True, slots=True)
class Loaded:
    """`model` is None for search by words only; `reason` then says why and what to do. `counter` is always there."""

    model: LocalModel | None
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
        model = (_folder_model if settings.takes_folder else _graph_model)(settings, metrics)
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
    if settings.takes_folder:
        return _description(settings).tokens.counter()
    if advice := missing_model(settings):
        raise ModelMissing(advice)
    tokeniser = model_dir(settings.profile, settings=settings) / TOKENISER_FILE
    return WordPiece(tokeniser, max_length=PROFILES[settings.profile].window + SPECIAL_TOKENS).counter()


def profile_of(settings: ModelSettings) -> ModelProfile | None:
    """What the configured model is, for a process that has others embed. None for search by words only. Raises `ModelMissing`."""
    if settings.profile == "none":
        return None
    return _description(settings).profile if settings.takes_folder else PROFILES[settings.profile]


def missing_model(settings: ModelSettings) -> str:
    """Why the configured model's files cannot be used and what to do; empty when they can. Loads nothing."""
    if settings.takes_folder:
        try:
            _description(settings)
        except ModelMissing as error:
            return error.message
        return ""
    if settings.profile == "none" or is_ready(settings.profile, settings=settings):
        return ""
    return f"the model {settings.profile} is not in {settings.dir}; run `eunoe models pull {settings.profile}`"


def _graph_model(settings: ModelSettings, metrics: Metrics | None) -> LocalModel:
    if not is_intact(settings.profile, settings=settings):
        build(settings.profile, settings=settings, force=True)
    limits = BatchLimits(wait_s=settings.batch_wait_ms / 1000)
    if settings.batch_tokens is not None:
        limits = replace(limits, tokens=settings.batch_tokens)
    return OnnxEmbedder(
        model_dir(settings.profile, settings=settings),
        PROFILES[settings.profile],
        threads=settings.threads,
        limits=limits,
        metrics=metrics,
    )


def _folder_model(settings: ModelSettings, metrics: Metrics | None) -> LocalModel:
    model = _description(settings)
    engine = opened(model, device=settings.device, dtype=settings.dtype, threads=settings.threads)
    return FolderEmbedder(model, engine, tokens=settings.batch_tokens, wait_s=settings.batch_wait_ms / 1000, metrics=metrics)


def _description(settings: ModelSettings) -> FolderDescription:
    if settings.folder is None:
        raise ModelMissing("EUNOE_MODELS__FOLDER names no folder")
    return described(settings.folder, Calibration(settings.score_midpoint, settings.score_slope))
