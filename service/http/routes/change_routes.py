"""Changefeeds: the changes of a view or a table between two epochs, or from now on.

NDJSON has the changes after `since` up to `until` and ends. An event stream goes on: each epoch with changes
is one event, whose id is the epoch, so a client that returns with `Last-Event-ID` misses nothing and sees
nothing twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
import orjson
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from engine.errors import EngineError
from engine.state.dictionary import Dictionary
from engine.state.snapshot import RelationSnapshot
from service.decoding.parsing import NDJSON
from service.definitions.definition import Definition
from service.errors import BadRequest, NotFound, ServiceError, problem_of
from service.http.access import lanes_of, runtime_of
from service.http.models import answered_as
from service.http.routes.strict import StrictRoute
from service.names import fold_name
from service.problems import members
from service.reading.lanes import Lane
from service.reading.reads import check_health
from service.reading.row_formats import json_rows, negotiate
from service.running.runtime import Runtime

router = APIRouter(route_class=StrictRoute, tags=["changes"])

EVENTS = "text/event-stream"
_ANSWERS = answered_as(NDJSON, EVENTS)
PIECE = 4096
"""Changes in one piece of a response."""
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment shows that the stream is alive."""

Since = Annotated[int | None, Query(ge=0, description="Changes after this epoch.")]
Until = Annotated[int | None, Query(ge=0, description="Up to this epoch; by default the newest.")]
Errors = Annotated[Literal["skip"] | None, Query(description="`skip`: follow a view that has errors.")]
LastEvent = Annotated[str | None, Header(description="The last epoch received from an event stream.")]


@router.get("/v1/views/{view}/changes", response_class=Response, responses=_ANSWERS)
async def view_changes(
    request: Request,
    view: str,
    since: Since = None,
    until: Until = None,
    errors: Errors = None,
    last_event_id: LastEvent = None,
) -> Response:
    """The view's changes in epoch order: NDJSON, or live as server-sent events. 410 if no longer kept."""
    definition = runtime_of(request).definition(fold_name(view), view=True)
    return await _changes(request, definition, since, until, errors == "skip", last_event_id)


@router.get("/v1/tables/{table}/changes", response_class=Response, responses=_ANSWERS)
async def table_changes(
    request: Request,
    table: str,
    since: Since = None,
    until: Until = None,
    last_event_id: LastEvent = None,
) -> Response:
    """The table's changes in epoch order: NDJSON, or live as server-sent events. 410 if no longer kept."""
    definition = runtime_of(request).definition(fold_name(table), view=False)
    return await _changes(request, definition, since, until, False, last_event_id)


async def _changes(
    request: Request,
    definition: Definition,
    since: int | None,
    until: int | None,
    skip_errors: bool,
    last_event_id: str | None,
) -> Response:
    runtime = runtime_of(request)
    snapshot = runtime.snapshot
    newest = snapshot.upper - 1
    live = negotiate(request.headers.get("accept"), (NDJSON, EVENTS)) == EVENTS
    if live and last_event_id is not None:
        if not last_event_id.isdecimal():
            raise BadRequest(f"Last-Event-ID is {last_event_id!r}, not an epoch", code="invalid_event_id")
        since = int(last_event_id)
    if since is None:
        since = newest if live else 0
    last = newest if until is None else until
    reads = lanes_of(request).reads
    await reads.run(check_health, definition, snapshot, since, True)
    await reads.run(check_health, definition, snapshot, newest if live else max(since, last), skip_errors)
    if live:
        feed = _events(runtime, reads, definition, since, skip_errors)
        return StreamingResponse(feed, media_type=EVENTS, headers={"Cache-Control": "no-store"})
    delta = await reads.run(snapshot.changes, definition.name, since, max(since, last))
    headers = {"Freshet-Epoch": str(last)}
    lines = reads.each(_ndjson(delta, definition, runtime.dictionary, snapshot.texts))
    return StreamingResponse(lines, headers=headers, media_type=NDJSON)


def _ndjson(
    delta: np.ndarray, definition: Definition, dictionary: Dictionary, held: object
) -> Iterator[bytes]:
    """The changes of a delta, one a line; what is `held` keeps their texts."""
    for start in range(0, delta.shape[1], PIECE):
        changes = _changes_of(delta[:, start : start + PIECE], definition, dictionary)
        yield b"".join(orjson.dumps(change, option=orjson.OPT_APPEND_NEWLINE) for change in changes)


def _changes_of(delta: np.ndarray, definition: Definition, dictionary: Dictionary) -> list[dict]:
    """The changes of a delta int64[W + 2, n] as JSON objects."""
    rows = json_rows(np.ascontiguousarray(delta[:-2]), definition.schema, dictionary)
    epochs, diffs = delta[-2].tolist(), delta[-1].tolist()
    return [{"epoch": e, "diff": d, "row": row} for e, d, row in zip(epochs, diffs, rows, strict=True)]


async def _events(
    runtime: Runtime, reads: Lane, definition: Definition, since: int, skip_errors: bool
) -> AsyncIterator[bytes]:
    """Events of epochs after `since`, until the relation is dropped or the service stops."""
    beat = runtime.pulse.waiter()
    seen: RelationSnapshot | None = None
    while not runtime.closing:
        snapshot = runtime.snapshot
        newest = snapshot.upper - 1
        try:
            if runtime.definitions().get(definition.name) is not definition:
                raise NotFound(f"{definition.name} was dropped")
            relation = snapshot.relations.get(definition.name)
            if newest > since and (seen is None or relation is not seen):
                check_health(definition, snapshot, newest, skip_errors)
                delta = await reads.run(snapshot.changes, definition.name, since, newest)
                events = _event_texts(delta, definition, runtime.dictionary)
                while event := await reads.run(next, events, b""):
                    yield event
            since, seen = max(since, newest), relation
        except (ServiceError, EngineError) as error:
            problem = problem_of(error)
            if problem is not None:
                yield b"event: problem\ndata: " + orjson.dumps(members(problem)) + b"\n\n"
            return
        try:
            await asyncio.wait_for(beat.wait(), KEEP_ALIVE)
            beat = runtime.pulse.waiter()
        except TimeoutError:
            yield b": alive\n\n"


def _event_texts(delta: np.ndarray, definition: Definition, dictionary: Dictionary) -> Iterator[bytes]:
    """One event for each epoch of a delta, with an array of its changes."""
    epochs = delta[-2]
    bounds = [*np.flatnonzero(np.diff(epochs, prepend=-1)).tolist(), len(epochs)]
    for start, stop in pairwise(bounds):
        changes = _changes_of(delta[:, start:stop], definition, dictionary)
        yield b"id: %d\nevent: changes\ndata: %s\n\n" % (changes[0]["epoch"], orjson.dumps(changes))
