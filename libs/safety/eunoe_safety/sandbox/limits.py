"""What one worker process may use."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings per worker and job. Times in seconds, sizes in bytes.

    `memory_bytes` is address space (RLIMIT_AS) of the worker; a worker whose resident memory is above half of it after a job is
    replaced. `cpu_s` and `wall_s` count per job, `wall_s` from the moment a worker has the job. `queue_s` bounds the wait for a free
    worker, which is never the document's fault. `result_bytes` bounds the answer, `temp_bytes` each file the worker writes.
    """

    memory_bytes: int = 1024 * MIB
    cpu_s: float = 45.0
    wall_s: float = 50.0
    jobs_per_worker: int = 200
    queue_s: float = 30.0
    result_bytes: int = 64 * MIB
    temp_bytes: int = 256 * MIB

    @property
    def recycle_rss_bytes(self) -> int:
        """Resident memory above which a worker is replaced between two jobs."""
        return self.memory_bytes // 2
