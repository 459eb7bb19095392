"""Settings of the search service: `EUNOE_SEARCH__<KEY>`."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class SearchSettings(BaseSettings):
    """Ranking and limits; the defaults are measured ones (see `bench/README.md`).

    Weights are relative: those of the arms that answered are scaled to a sum of one.
    """

    model_config = SettingsConfigDict(env_prefix="EUNOE_SEARCH__", env_file=".env", frozen=True, extra="ignore")

    candidates: int = Field(default=100, ge=10, le=1000, description="Rows asked of each arm; fusion normalises over these.")
    weight_dense: float = Field(default=0.45, ge=0, le=10, description="Weight of the vector arm.")
    weight_bm25_body: float = Field(default=0.275, ge=0, le=10, description="Weight of the BM25 arm on the passage's own text.")
    weight_bm25_context: float = Field(default=0.275, ge=0, le=10, description="Weight of the BM25 arm on the contextual text.")
    fusion: str = Field(default="minmax", pattern="^(minmax|rrf)$", description="How arms are put together: minmax or rrf.")
    rrf_k: int = Field(default=10, ge=10, le=60, description="Constant of reciprocal rank fusion.")
    prior_parent_bm25: float = Field(default=0.35, ge=0, le=10, description="Share of its parent's BM25 score that a passage gets.")
    prior_parent_dense: float = Field(default=0.2, ge=0, le=10, description="Share of its parent's vector score that a passage gets.")
    prior_following: float = Field(default=0.2, ge=0, le=10, description="Share of the following passage's score that a passage gets.")
    title_named: float = Field(default=0.3, ge=0, le=10, description="Bonus of a document whose title the question names.")
    hop_sources: int = Field(default=5, ge=0, le=50, description="Best hits whose mentions are followed; 0 switches the hop off.")
    hop_decay: float = Field(default=0.9, gt=0, le=1, description="Share of the source's score that the target gets.")
    hop_bonus: float = Field(default=0.2, ge=0, le=1, description="Share of the source's score that is added to the target's own.")
    hop_targets: int = Field(default=3, ge=1, description="Best targets of one source that get a score.")
    hop_in_degree: int = Field(default=20, ge=1, description="Targets that more passages mention are skipped.")
    hop_fan_out: int = Field(default=50, ge=1, description="Most mentions followed from one hit.")
    turn_signs: float = Field(default=1.0, ge=0, le=10, description="Weight of the cheap signs of conversation turns; 0 switches them off.")
    superseded_factor: float = Field(default=0.5, gt=0, le=1, description="Factor on the rank of superseded memories.")
    keyword_evidence: float = Field(default=0.5, ge=0, le=1, description="How far covered query terms raise a score beside a cosine.")
    related_limit: int = Field(default=5, ge=1, le=50, description="Most related memories with one hit.")
    fail_closed: bool = Field(default=False, description="Refuse an answer that an arm or a store is missing from, instead of naming it.")
    arm_timeout_s: float = Field(default=2.0, gt=0, le=60, description="An arm that takes longer is left out and named in `degraded`.")
