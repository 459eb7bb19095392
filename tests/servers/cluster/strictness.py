"""Asks a search process that fails closed, by its own door."""

from __future__ import annotations

import grpc
from eunoe.v1 import search_pb2, search_pb2_grpc
from eunoe_contracts.tenancy import DEFAULT_TENANT
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from servers.cluster import SECRET, ServiceProcess
from servers.ports import HOST


def refusal(process: ServiceProcess, query: str, container: str) -> str:
    """The code with which it refuses; empty when it answers."""
    metadata = (("authorization", f"Bearer {SECRET}"), ("eunoe-tenant", DEFAULT_TENANT))
    with grpc.insecure_channel(f"{HOST}:{process.grpc}") as channel:
        ask = search_pb2_grpc.SearchServiceStub(channel).Search
        try:
            ask(search_pb2.SearchRequest(query=query, containers=[container]), metadata=metadata, timeout=30)
        except grpc.RpcError as error:
            told = error_details_pb2.ErrorInfo()
            for each in getattr(rpc_status.from_call(error), "details", ()):
                each.Unpack(told)
            return told.reason or str(error)
        return ""
