"""Readiness: every part says for itself whether it can work, and why not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from eunoe.v1 import admin_pb2
from eunoe_contracts.errors import as_eunoe_error

from eunoe_gateway.ports import Probe
from eunoe_gateway.protobuf import struct


class Readiness:
    """Asks all probes at the same time, each with a limit."""

    def __init__(self, probes: Mapping[str, Probe], *, timeout_s: float) -> None:
        self._probes = probes
        self._timeout_s = timeout_s

    async def check(self) -> admin_pb2.ReadinessResponse:
        """Ready when every part is; `parts` has `{name: {ok, reason}}`."""
        names = sorted(self._probes)
        answers = await asyncio.gather(*(self._ask(self._probes[name]) for name in names))
        parts = {name: {"ok": ok, "reason": reason} for name, (ok, reason) in zip(names, answers, strict=True)}
        return admin_pb2.ReadinessResponse(ready=all(ok for ok, _ in answers), parts=struct(parts))

    async def _ask(self, probe: Probe) -> tuple[bool, str]:
        try:
            return await asyncio.wait_for(probe(), self._timeout_s)
        except TimeoutError:
            return False, f"no answer within {self._timeout_s:g} s"
        except Exception as error:  # noqa: BLE001 - a probe that breaks is a part that is not ready
            return False, as_eunoe_error(error).message
