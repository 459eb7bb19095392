"""Puts the gateway together: the calls for the doors, the handlers for the log, the sweeper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from eunoe_contracts import readers, topics
from eunoe_contracts.events import Event
from eunoe_contracts.stages import DocumentStatus
from eunoe_stream.subscription import Background, Service, Subscription

from eunoe_gateway import service
from eunoe_gateway.config import AuthSettings, GatewaySettings
from eunoe_gateway.containers import Containers
from eunoe_gateway.dead_letters import DeadLetters
from eunoe_gateway.documents.acceptance import Acceptance
from eunoe_gateway.documents.direct_upload import DirectUpload
from eunoe_gateway.documents.erasure import Erasing
from eunoe_gateway.documents.messages import Messages
from eunoe_gateway.documents.orphans import Orphans
from eunoe_gateway.documents.purge import Purge
from eunoe_gateway.documents.reading import Reading
from eunoe_gateway.documents.sinks import Sinks
from eunoe_gateway.documents.sweeper import Sweeper
from eunoe_gateway.documents.turn import Turn
from eunoe_gateway.format_list import FormatList
from eunoe_gateway.gateway import Gateway
from eunoe_gateway.grpc_door.servicers import servicers
from eunoe_gateway.keyed_locks import KeyedLocks
from eunoe_gateway.memories import Memories
from eunoe_gateway.ports import GatewayPorts, Probe, StageInput
from eunoe_gateway.publishing import Publisher
from eunoe_gateway.readiness import Readiness
from eunoe_gateway.relations import Relations
from eunoe_gateway.tokens import Tokens

NAME = "gateway"
FINISH_GROUP = readers.FINISH
ERASE_GROUP = readers.ERASE_GATEWAY
FINISH = StageInput(topics.STAGE_FINISHED, FINISH_GROUP)


def build_application(
    settings: GatewaySettings,
    auth: AuthSettings,
    ports: GatewayPorts,
    *,
    probes: Mapping[str, Probe],
    operator_secret: str = "",
) -> Gateway:
    """The calls of all doors. `operator_secret` is fresh at each start and lies where only the operator can read it."""
    sinks = _sinks(ports)
    publisher = Publisher(ports.log, wait_s=settings.publish_wait_s)
    locks: KeyedLocks[UUID] = KeyedLocks()
    acceptance = Acceptance(ports, settings, publisher, locks)
    memories = Memories(sinks, publisher=publisher, clock=ports.clock, metadata_limit=settings.max_metadata_bytes)
    return Gateway(
        acceptance=acceptance,
        direct=DirectUpload(ports, settings, acceptance),
        messages=Messages(acceptance, max_messages=settings.max_messages),
        reading=Reading(ports.catalogue, ports.blobs),
        erasing=Erasing(sinks, publisher=publisher, clock=ports.clock),
        memories=memories,
        relations=Relations(ports.catalogue, graph=ports.graph, memories=memories, clock=ports.clock),
        containers=Containers(ports.catalogue, vectors=ports.vectors, graph=ports.graph),
        dead_letters=DeadLetters(ports.catalogue, publisher=publisher, clock=ports.clock),
        tokens=Tokens(
            ports.catalogue,
            clock=ports.clock,
            ids=ports.ids,
            api_token=auth.api_token.get_secret_value(),
            operator_token=auth.operator_token.get_secret_value(),
            operator_secret=operator_secret,
            require_auth=auth.require_auth,
        ),
        formats=FormatList(ports.catalogue),
        readiness=Readiness(probes, timeout_s=settings.probe_timeout_s),
        searcher=ports.searcher,
        publisher=publisher,
        locks=locks,
    )


def build(settings: GatewaySettings, ports: GatewayPorts, application: Gateway) -> Service:
    """The finisher, the gateway's part of erasure, the servicers and the sweeper."""
    sinks = _sinks(ports)

    def on_end(status: DocumentStatus) -> None:
        ports.metrics.count("documents_ended_total", status=status.value)

    async def finish(event: Event) -> Sequence[Event]:
        return await service.finish_document(event, sinks=sinks, now=ports.clock.now(), with_vectors=ports.with_vectors, on_end=on_end)

    async def remove(event: Event) -> Sequence[Event]:
        return await service.remove_erased(event, sinks=sinks)

    sweeper = Sweeper(
        sinks=sinks,
        log=ports.log,
        clock=ports.clock,
        metrics=ports.metrics,
        settings=settings,
        inputs=ports.inputs,
        finish=FINISH,
        with_vectors=ports.with_vectors,
        on_end=on_end,
        orphans=Orphans(sinks, application.locks, ports.clock, alone=ports.alone),
        purge=Purge(sinks, ports.clock),
        turn=_turn(ports, settings),
    )
    return Service(
        NAME,
        subscriptions=(
            Subscription(topics.STAGE_FINISHED, FINISH_GROUP, finish),
            Subscription(topics.DOCUMENT_ERASED, ERASE_GROUP, remove),
        ),
        servicers=servicers(application, settings),
        background=(Background("sweeper", sweeper.run),),
    )


def _turn(ports: GatewayPorts, settings: GatewaySettings) -> Turn:
    owner = "" if ports.alone else ports.ids.new()
    return Turn(ports.catalogue, ports.clock, owner, settings.sweep_interval_s, ports.alone)


def _sinks(ports: GatewayPorts) -> Sinks:
    return Sinks(ports.catalogue, ports.vectors, ports.graph, ports.blobs)
