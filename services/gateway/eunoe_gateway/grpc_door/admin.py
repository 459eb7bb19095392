"""`AdminService`."""

from __future__ import annotations

from typing import Any

from eunoe.v1 import admin_pb2, admin_pb2_grpc

from eunoe_gateway.application import Application
from eunoe_gateway.grpc_door.caller import caller

# ruff: noqa: N802, ARG002 - names and signatures are gRPC's


class AdminServicer(admin_pb2_grpc.AdminServiceServicer):
    """Translates; see `Application`."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def Stats(self, request: admin_pb2.StatsRequest, context: Any) -> admin_pb2.StatsResponse:
        """Counts."""
        return await self._application.stats(caller())

    async def DeadLetters(self, request: admin_pb2.DeadLettersRequest, context: Any) -> admin_pb2.DeadLettersResponse:
        """What was given up."""
        return await self._application.dead_letters(caller(), request)

    async def Replay(self, request: admin_pb2.ReplayRequest, context: Any) -> admin_pb2.ReplayResponse:
        """Put dead letters back to work."""
        return await self._application.replay(caller(), request)

    async def CreateToken(self, request: admin_pb2.CreateTokenRequest, context: Any) -> admin_pb2.CreateTokenResponse:
        """A new token."""
        return await self._application.create_token(caller(), request)

    async def Tokens(self, request: admin_pb2.TokensRequest, context: Any) -> admin_pb2.TokensResponse:
        """All tokens."""
        return await self._application.tokens(caller())

    async def RevokeToken(self, request: admin_pb2.RevokeTokenRequest, context: Any) -> admin_pb2.RevokeTokenResponse:
        """End a token."""
        return await self._application.revoke_token(caller(), request.id)

    async def Readiness(self, request: admin_pb2.ReadinessRequest, context: Any) -> admin_pb2.ReadinessResponse:
        """Ready or not, and why; needs no token."""
        return await self._application.readiness()
