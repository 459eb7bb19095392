"""Settings of the extractor: `EUNOE_EXTRACTOR__<KEY>`."""

from __future__ import annotations

from eunoe_process.settings_table import Names
from eunoe_safety.sandbox.limits import MIB
from eunoe_safety.sandbox.limits import Limits as SandboxLimits
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from eunoe_extractor.segments.limits import Limits


class ExtractorSettings(BaseSettings):
    """Sizes of passages and sections, and what a parser process may use."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_EXTRACTOR__", env_file=".env", frozen=True, extra="ignore")

    formats: Names = Field(
        default=(), description="Ids of the formats to read, with commas; empty: all with a parser. What one extractor lacks is refused."
    )
    passage_tokens: int = Field(default=500, ge=32, le=8000, description="Aim for a passage; smaller where the embedder's window is.")
    header_tokens: int = Field(default=48, ge=0, le=200, description="Most tokens of the header in a contextual text.")
    section_threshold_tokens: int = Field(default=8000, ge=1, description="Length (characters / 4) from which a document has sections.")
    section_chars: int = Field(default=3000, ge=100, description="Characters of a section; a paragraph is never split.")
    parser_workers: int = Field(default=2, ge=1, le=64, description="Parser processes.")
    parser_memory_mib: int = Field(default=1024, ge=128, description="Address space of a parser process.")
    parser_cpu_s: float = Field(default=45.0, gt=0, le=55, description="CPU time of one document.")
    parser_wall_s: float = Field(default=50.0, gt=0, le=55, description="Time of one document; below the deadline of the stage.")
    parser_queue_s: float = Field(default=30.0, gt=0, description="Longest wait for a free parser process.")
    jobs_per_worker: int = Field(default=200, ge=1, description="Documents after which a parser process is replaced.")
    concurrency: int = Field(default=2, ge=1, le=256, description="Documents in work at the same time, per partition.")
    deadline_s: float = Field(default=60.0, gt=0, le=60, description="Longest run of one handler.")
    max_attempts: int = Field(default=5, ge=1, le=20, description="Tries before a dead letter.")

    @property
    def limits(self) -> Limits:
        """Sizes for the segmenter."""
        return Limits(self.passage_tokens, self.header_tokens, self.section_threshold_tokens, self.section_chars)

    @property
    def sandbox(self) -> SandboxLimits:
        """Ceilings for the parser processes."""
        return SandboxLimits(
            memory_bytes=self.parser_memory_mib * MIB,
            cpu_s=self.parser_cpu_s,
            wall_s=self.parser_wall_s,
            jobs_per_worker=self.jobs_per_worker,
            queue_s=self.parser_queue_s,
        )
