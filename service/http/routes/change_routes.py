"""Changefeeds: the changes of a view or a table between two epochs, or from now on.

NDJSON has the changes after `since` up to `until` and ends. An event stream goes on: each epoch with changes
is one event, whose id is the epoch, so a client that returns with `Last-Event-ID` misses nothing and sees
nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
import orjson
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from engine.schema import Schema
from engine.state.dictionary import Dictionary
from engine.state.snapshot import Snapshot
from service.decoding.parsing import NDJSON
from service.definitions.definition import Definition
from service.errors import BadRequest
from service.http.access import feeds_of, lanes_of, principal_of, runtime_of
from service.http.feeds import EVENTS
from service.http.models import answered_as
from service.http.routes.strict import StrictRoute
from service.names import fold_name
from service.reading.reads import check_health
from service.reading.row_formats import changes_of, negotiate

router = APIRouter(route_class=StrictRoute, tags=["changes"])

_ANSWERS = answered_as(NDJSON, EVENTS)
PIECE = 4096
"""Changes in one piece of a response."""

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
    readable = runtime_of(request).readable
    definition = readable.definition(fold_name(view), view=True)
    skips = errors == "skip"
    return await _changes(request, readable.snapshot, definition, since, until, skips, last_event_id)


@router.get("/v1/tables/{table}/changes", response_class=Response, responses=_ANSWERS)
async def table_changes(
    request: Request,
    table: str,
    since: Since = None,
    until: Until = None,
    last_event_id: LastEvent = None,
) -> Response:
    """The table's changes in epoch order: NDJSON, or live as server-sent events. 410 if no longer kept."""
    readable = runtime_of(request).readable
    definition = readable.definition(fold_name(table), view=False)
    return await _changes(request, readable.snapshot, definition, since, until, False, last_event_id)


async def _changes(
    request: Request,
    snapshot: Snapshot,
    definition: Definition,
    since: int | None,
    until: int | None,
    skip_errors: bool,
    last_event_id: str | None,
) -> Response:
    newest = snapshot.upper - 1
    live = negotiate(request.headers.get("accept"), (NDJSON, EVENTS)) == EVENTS
    if live and last_event_id is not None:
        if not (last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) < 20):
            raise BadRequest(f"Last-Event-ID is {last_event_id!r}, not an epoch", code="invalid_event_id")
        since = int(last_event_id)
    if since is None:
        since = newest if live else 0
    last = newest if until is None else until
    reads = lanes_of(request).reads
    await reads.run(check_health, definition, snapshot, since, True)
    await reads.run(check_health, definition, snapshot, newest if live else max(since, last), skip_errors)
    if live:
        return feeds_of(request).response(definition, since, skip_errors, principal_of(request))
    delta = await reads.run(snapshot.changes, definition.name, since, max(since, last))
    headers = {"Freshet-Epoch": str(last)}
    lines = reads.each(_ndjson(delta, definition.schema, runtime_of(request).dictionary, snapshot.texts))
    return StreamingResponse(lines, headers=headers, media_type=NDJSON)


def _ndjson(delta: np.ndarray, schema: Schema, dictionary: Dictionary, held: object) -> Iterator[bytes]:
    """The changes of a delta, one a line; what is `held` keeps their texts."""
    for start in range(0, delta.shape[1], PIECE):
        changes = changes_of(delta[:, start : start + PIECE], schema, dictionary)
        yield b"".join(orjson.dumps(change, option=orjson.OPT_APPEND_NEWLINE) for change in changes)
