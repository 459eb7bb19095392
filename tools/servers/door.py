"""The doors of the running product, one process or six: what a test needs that only calls it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx

TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Door:
    """Where the doors are, the token that calls must carry (none where empty), and the logs of all processes."""

    url: str
    grpc: str
    token: str
    logs: Sequence[Path]

    def client(self) -> httpx.Client:
        """A client of the HTTP door."""
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        return httpx.Client(base_url=self.url, timeout=TIMEOUT_S, headers=headers)

    def channel(self) -> grpc.Channel:
        """A channel to the gRPC door."""
        made = grpc.insecure_channel(self.grpc)
        return grpc.intercept_channel(made, WithToken(self.token)) if self.token else made


class WithToken(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamUnaryClientInterceptor):
    """Adds the token to every call."""

    def __init__(self, token: str) -> None:
        self._more = (("authorization", f"Bearer {token}"),)

    def _called(self, proceed, details, request):  # noqa: ANN001, ANN202 - gRPC has no types for these
        return proceed(details._replace(metadata=(*(details.metadata or ()), *self._more)), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_unary = _called
