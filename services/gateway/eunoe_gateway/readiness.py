"""Readiness as the doors answer it."""

from __future__ import annotations

from collections.abc import Mapping

from eunoe.v1 import admin_pb2
from eunoe_process.readiness import Probe, ask

from eunoe_gateway.protobuf import struct


class Readiness:
    """Asks all probes at the same time, each with a limit. The mapping may grow: probes are looked up at each call."""

    def __init__(self, probes: Mapping[str, Probe], *, timeout_s: float) -> None:
        self._probes = probes
        self._timeout_s = timeout_s

    async def check(self) -> admin_pb2.ReadinessResponse:
        """Ready when every part is; `parts` has `{name: {ok, reason}}`."""
        parts = await ask(self._probes, self._timeout_s)
        told = {name: {"ok": each.ok, "reason": each.reason} for name, each in parts.items()}
        return admin_pb2.ReadinessResponse(ready=all(each.ok for each in parts.values()), parts=struct(told))
