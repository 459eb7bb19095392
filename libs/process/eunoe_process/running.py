"""One process at work: admin port, stores, services, doors; from the first start to the last commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog
from eunoe_contracts.clock import Clock, Ids
from eunoe_stream.runner import Runner
from eunoe_stream.subscription import AddServicer, Background
from eunoe_telemetry.metrics import Metrics

from eunoe_process.admin_port import AdminPort
from eunoe_process.config import InternalSettings, ProcessSettings
from eunoe_process.http_listener import http_listener
from eunoe_process.internal_server import internal_server
from eunoe_process.listening import Address, bound_socket
from eunoe_process.program import Assembly, Program, Surroundings
from eunoe_process.readiness import troubles_of
from eunoe_process.secret import checked_secret
from eunoe_process.settings_table import Owner
from eunoe_process.stopping import Stop
from eunoe_process.store_probes import store_probes
from eunoe_process.stores import Kinds, Stores, open_stores
from eunoe_process.version import running_version
from eunoe_process.watchdog import LoopWatchdog, ProgressWatchdog
from eunoe_process.work import at_work

LOOPBACK = "127.0.0.1"
Told = Callable[[Mapping[str, str]], None]
log = structlog.get_logger("eunoe")


def admin_address(program: Program, settings: ProcessSettings) -> Address:
    """Where the admin port listens. Raises `ConfigurationError`."""
    return Address.parse(settings.admin or f"{LOOPBACK}:{program.admin_port}", setting="EUNOE_PROCESS__ADMIN")


def internal_address(program: Program, settings: ProcessSettings) -> Address | None:
    """Where the internal door listens; None for a program without one. Raises `ConfigurationError`."""
    if program.grpc_port is None:
        return None
    return Address.parse(settings.grpc or f"{LOOPBACK}:{program.grpc_port}", setting="EUNOE_PROCESS__GRPC")


def secret_of(program: Program, settings: Mapping[Owner, Any]) -> str:
    """The shared secret, checked against where this process listens and whom it calls. Raises `ConfigurationError`."""
    internal: InternalSettings = settings[InternalSettings]
    own = internal_address(program, settings[ProcessSettings])
    called = [Address.parse(each, setting="EUNOE_INTERNAL__*") for each in program.calls(internal)]
    return checked_secret(internal.secret.get_secret_value(), [*([own] if own is not None else []), *called])


async def run(
    program: Program,
    settings: Mapping[Owner, Any],
    kinds: Kinds,
    *,
    stop: Stop,
    clock: Clock,
    ids: Ids,
    on_up: Told = lambda _: None,
) -> None:
    """Run until `stop`. `on_up` is told the addresses when the process serves.

    Raises `Unreachable`, `ConfigurationError` and other set-up errors at start.
    """
    process: ProcessSettings = settings[ProcessSettings]
    metrics, version = Metrics(), running_version()
    metrics.set("build_info", 1, version=version)
    admin = AdminPort(program.name, version, metrics, probe_timeout_s=process.probe_timeout_s)
    address = admin_address(program, process)
    listener = bound_socket(address)
    addresses = {"admin": f"http://{Address(address.host, listener.getsockname()[1])}"}
    async with (
        http_listener(admin, listener),
        open_stores(program.stores, kinds, settings, clock=clock, ids=ids, within_s=process.start_s) as stores,
        program.assemble(Surroundings(stores, settings, clock, ids, metrics, admin.probes)) as assembly,
    ):
        runner = _runner(assembly, stores, clock=clock, ids=ids, metrics=metrics)
        _add_probes(admin, stores, runner)
        beside = [Background("loop watchdog", LoopWatchdog(process.blocked_s).run)]
        if runner is not None:
            beside.append(
                Background("progress watchdog", ProgressWatchdog(runner.health, stop, clock, process.stalled_s, stores.watches).run)
            )
        servicers = tuple(each for service in assembly.services for each in service.servicers)
        async with (
            at_work(runner, assembly.services, finish=assembly.finish, drain_s=process.drain_s, beside=beside),
            _doors(program, assembly, settings, servicers, metrics=metrics, clock=clock) as doors,
        ):
            admin.phase = "serving"
            log.info("serving", process=program.name, **addresses, **doors)
            on_up({**addresses, **doors})
            await stop.wait()
            admin.phase = "stopping"
            log.info("stopping", process=program.name)
    await asyncio.sleep(0)


def _runner(assembly: Assembly, stores: Stores, *, clock: Clock, ids: Ids, metrics: Metrics) -> Runner | None:
    subscriptions = [each for service in assembly.services for each in service.subscriptions]
    if not subscriptions:
        return None
    return Runner(stores.log, subscriptions, ledger=stores.ledger, clock=clock, ids=ids, metrics=metrics, instance=ids.new())


def _add_probes(admin: AdminPort, stores: Stores, runner: Runner | None) -> None:
    if runner is not None:
        health_of = runner.health

        async def workers() -> tuple[bool, str]:
            health = health_of()
            troubles = troubles_of(health)
            return not troubles, "; ".join(troubles) or f"{len(health)} groups at work"

        admin.probes["workers"] = workers
    for name, probe in store_probes(stores).items():
        admin.probes.setdefault(name, probe)


@asynccontextmanager
async def _doors(
    program: Program,
    assembly: Assembly,
    settings: Mapping[Owner, Any],
    servicers: tuple[AddServicer, ...],
    *,
    metrics: Metrics,
    clock: Clock,
) -> AsyncIterator[Mapping[str, str]]:
    own = internal_address(program, settings[ProcessSettings])
    if assembly.doors is not None:
        async with assembly.doors(servicers) as addresses:
            yield addresses
    elif own is not None:
        async with internal_server(own, servicers, secret=secret_of(program, settings), metrics=metrics, clock=clock) as address:
            yield {"grpc": str(address)}
    else:
        yield {}
