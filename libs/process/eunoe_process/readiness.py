"""Readiness: every part says for itself whether it can work, and why not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from eunoe_contracts.errors import as_eunoe_error
from eunoe_stream.runner import GroupHealth

STUCK_S = 120.0

Probe: TypeAlias = Callable[[], Awaitable[tuple[bool, str]]]
"""Readiness of one part: (ok, reason). A reason beside ok is a note, such as "BM25 only: no embedder is configured"."""


@dataclass(frozen=True, slots=True)
class Part:
    """The answer of one probe."""

    ok: bool
    reason: str


async def ask(probes: Mapping[str, Probe], timeout_s: float) -> Mapping[str, Part]:
    """Ask all probes at the same time, each with a limit; answers by name, in order. Never raises."""
    names = sorted(probes)
    answers = await asyncio.gather(*(_ask(probes[name], timeout_s) for name in names))
    return dict(zip(names, answers, strict=True))


async def _ask(probe: Probe, timeout_s: float) -> Part:
    try:
        return Part(*await asyncio.wait_for(probe(), timeout_s))
    except TimeoutError:
        return Part(ok=False, reason=f"no answer within {timeout_s:g} s")
    except Exception as error:  # noqa: BLE001 - a probe that breaks is a part that is not ready
        return Part(ok=False, reason=as_eunoe_error(error).message)


def troubles_of(groups: Mapping[str, GroupHealth]) -> list[str]:
    """What hinders the groups, for people."""
    troubles = []
    for group, health in sorted(groups.items()):
        if health.paused:
            troubles.append(f"{group} is paused after failures ({health.reason})")
        elif health.lag and health.last_progress_age_s > STUCK_S:
            troubles.append(f"{group} has made no progress for {health.last_progress_age_s:.0f} s ({health.reason or 'no reason known'})")
    return troubles
