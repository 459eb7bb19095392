"""Server-sent events (WHATWG HTML, section 9.2) of a document's states."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from eunoe.v1 import types_pb2
from eunoe_contracts.errors import EunoeError, InvalidField

from eunoe_gateway.http import shapes

KEEP_ALIVE_S = 15.0
KEEP_ALIVE = ": keep-alive\n\n"
HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
_REVISION = re.compile(r"[0-9]{1,18}\Z", re.ASCII)


def revision_of(last_event_id: str) -> int:
    """The revision after which a client goes on; 0 without one. Raises `InvalidField`."""
    if not last_event_id:
        return 0
    if _REVISION.match(last_event_id) is None:
        raise InvalidField("Last-Event-ID: must be a revision number")
    return int(last_event_id)


async def event_stream(
    states: AsyncIterator[types_pb2.Document], *, failed: Callable[[Exception], EunoeError], keep_alive_s: float
) -> AsyncIterator[str]:
    """One `status` event per state, a comment after each silence of `keep_alive_s`. An error, such as the document being erased
    meanwhile, is the last event. The states are closed when the reader goes.
    """
    waiting = asyncio.create_task(_next(states))
    try:
        while True:
            done, _ = await asyncio.wait({waiting}, timeout=keep_alive_s)
            if not done:
                yield KEEP_ALIVE
                continue
            try:
                state = waiting.result()
            except Exception as error:  # noqa: BLE001 - the status line is gone; the reader is told in the stream
                yield error_event(failed(error))
                return
            if state is None:
                return
            yield status_event(state)
            waiting = asyncio.create_task(_next(states))
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        if isinstance(states, AsyncGenerator):
            await states.aclose()


async def _next(states: AsyncIterator[types_pb2.Document]) -> types_pb2.Document | None:
    return await anext(states, None)


def status_event(state: types_pb2.Document) -> str:
    """One state; its id is the document's revision, so that a client that reconnects goes on where it was."""
    return f"id: {state.revision}\nevent: status\ndata: {json.dumps(shapes.document(state), ensure_ascii=False)}\n\n"


def error_event(error: EunoeError) -> str:
    """The last event of a stream that broke."""
    return f"event: failure\ndata: {json.dumps({'detail': error.message, 'code': error.code})}\n\n"
