"""Changefeeds: the changes of a view or a table between two epochs, or from now on.

NDJSON and JSON have the changes after `since` up to `until`; JSON has them in pages. An event stream goes on:
each epoch with changes is one event, whose id is the epoch, so a client that returns with `Last-Event-ID`
misses nothing and sees nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import orjson
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from engine.schema import Schema
from engine.state.dictionary import Dictionary
from engine.state.snapshot import Snapshot
from service.decoding.parsing import JSON, NDJSON
from service.definitions.definition import Definition
from service.errors import BadRequest, Invalid
from service.http.access import feeds_of, lanes_of, principal_of, runtime_of, timeline_of
from service.http.branch_parameter import OnBranch
from service.http.media_schemas import TableChangeList, ViewChanges, answered_as
from service.http.negotiation import EVENTS, media_type_for
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.reading.change_pages import ChangePlace, change_document, change_page
from service.reading.reads import check_health
from service.reading.row_formats import changes_of
from service.running.timeline import Timeline

router = APIRouter(route_class=StrictRoute, tags=["changes"])

_OFFERED = (NDJSON, JSON, EVENTS)
_OF_VIEW = answered_as(*_OFFERED, model=ViewChanges)
_OF_TABLE = answered_as(*_OFFERED, model=TableChangeList)
PIECE = 4096
"""Changes in one piece of a response."""

Since = Annotated[int | None, Query(ge=0, description="Changes after this epoch.")]
Until = Annotated[int | None, Query(ge=0, description="Up to this epoch; by default the newest.")]
Limit = Annotated[int | None, Query(ge=1, description="The most changes to return.")]
After = Annotated[str | None, Query(description="`next` of the previous page.")]
Errors = Annotated[Literal["skip"] | None, Query(description="`skip`: follow a view that has errors.")]
Format = Annotated[
    Literal["json", "ndjson", "sse"] | None,
    Query(description="The format of the changes, whatever Accept says."),
]
LastEvent = Annotated[str | None, Header(description="The last epoch received from an event stream.")]


@dataclass(frozen=True)
class _ChangeWish:
    """The parameters of a request; None for those that it leaves out."""

    since: int | None
    until: int | None
    limit: int | None
    cursor: str | None
    format: str | None
    skip_errors: bool = False


@router.get(
    "/v1/views/{view}/changes", operation_id="read_view_changes", response_class=Response, responses=_OF_VIEW
)
async def view_changes(
    request: Request,
    view: str,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    cursor: After = None,
    format: Format = None,
    errors: Errors = None,
    last_event_id: LastEvent = None,
    branch: OnBranch = None,
) -> Response:
    """The view's changes in epoch order: NDJSON, JSON pages, or live as server-sent events. 410 if no longer
    kept."""
    timeline = timeline_of(request, branch)
    readable = timeline.readable
    definition = readable.definition(fold_relation(view), view=True)
    wish = _ChangeWish(since, until, limit, cursor, format, errors == "skip")
    return await _changes(request, timeline, readable.snapshot, definition, "view", wish)


@router.get(
    "/v1/tables/{table}/changes",
    operation_id="read_table_changes",
    response_class=Response,
    responses=_OF_TABLE,
)
async def table_changes(
    request: Request,
    table: str,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    cursor: After = None,
    format: Format = None,
    last_event_id: LastEvent = None,
    branch: OnBranch = None,
) -> Response:
    """The table's changes in epoch order: NDJSON, JSON pages, or live as server-sent events. 410 if no longer
    kept."""
    timeline = timeline_of(request, branch)
    readable = timeline.readable
    definition = readable.definition(fold_relation(table), view=False)
    wish = _ChangeWish(since, until, limit, cursor, format)
    return await _changes(request, timeline, readable.snapshot, definition, "table", wish)


async def _changes(
    request: Request,
    timeline: Timeline,
    snapshot: Snapshot,
    definition: Definition,
    kind: str,
    wish: _ChangeWish,
) -> Response:
    newest = snapshot.upper - 1
    media_type = media_type_for(request, wish.format, _OFFERED)
    live = media_type == EVENTS
    place = _place(request, definition, wish, timeline.beginning, newest, live)
    reads, dictionary = lanes_of(request).reads, timeline.dictionary
    last = newest if live else max(place.since, place.until)
    await reads.run(check_health, definition, snapshot, place.since, True)
    await reads.run(check_health, definition, snapshot, last, place.skip_errors)
    if live:
        feeds, principal = feeds_of(request), principal_of(request)
        return feeds.response(timeline, definition, place.since, place.skip_errors, principal)
    headers = {"Freshet-Epoch": str(place.until)}
    if media_type == JSON:
        page = await reads.run(change_page, snapshot, definition.name, place, _limit(request, wish.limit))
        document = await reads.run(change_document, kind, definition, dictionary, page, last)
        return Response(document, headers=headers, media_type=JSON)
    delta = await reads.run(_delta, snapshot, definition.name, place, wish.limit)
    lines = reads.each(_ndjson(delta, definition.schema, dictionary, snapshot.texts))
    return StreamingResponse(lines, headers=headers, media_type=NDJSON)


def _place(
    request: Request, definition: Definition, wish: _ChangeWish, beginning: int, newest: int, live: bool
) -> ChangePlace:
    """Where the changes begin that a request asks for. Raises BadRequest or Invalid."""
    if live:
        _check_live(wish)
        since = _last_event(request.headers.get("last-event-id"))
        since = wish.since if since is None else since
        return ChangePlace(definition.id, newest if since is None else since, newest, 0, wish.skip_errors)
    until = newest if wish.until is None else wish.until
    if wish.cursor is None:
        since = beginning if wish.since is None else wish.since
        return ChangePlace(definition.id, since, until, 0, wish.skip_errors)
    place = ChangePlace.decode(wish.cursor)
    if place.relation != definition.id or wish.until not in (None, place.until):
        raise BadRequest(
            "the cursor belongs to another query", "start again without a cursor", code="cursor_mismatch"
        )
    return place


def _check_live(wish: _ChangeWish) -> None:
    """Raises Invalid for a parameter that says where a live stream ends: it does not."""
    for name, value in (("until", wish.until), ("limit", wish.limit), ("cursor", wish.cursor)):
        if value is not None:
            raise Invalid(
                f"an event stream has no {name}: it goes on until the client leaves",
                f"leave out {name}, or ask for JSON or NDJSON",
                code="invalid_request",
            )


def _last_event(given: str | None) -> int | None:
    if given is not None and not (given.isascii() and given.isdecimal() and len(given) < 20):
        raise BadRequest(f"Last-Event-ID is {given!r}, not an epoch", code="invalid_event_id")
    return None if given is None else int(given)


def _limit(request: Request, limit: int | None) -> int:
    """The most changes of a JSON page."""
    settings = runtime_of(request).settings
    if limit is not None and limit > settings.page_rows_most:
        raise Invalid(
            f"limit is {limit}, more than {settings.page_rows_most}",
            "read page by page with a cursor, or use NDJSON, which has no limit",
            code="limit_too_large",
        )
    return settings.page_rows if limit is None else limit


def _delta(snapshot: Snapshot, name: str, place: ChangePlace, limit: int | None) -> np.ndarray:
    """The changes from a place on, at most `limit` of them."""
    if limit is not None:
        return change_page(snapshot, name, place, limit).delta
    return snapshot.changes(name, place.since, max(place.since, place.until))[:, place.skip :]


def _ndjson(delta: np.ndarray, schema: Schema, dictionary: Dictionary, held: object) -> Iterator[bytes]:
    """The changes of a delta, one a line; what is `held` keeps their texts."""
    for start in range(0, delta.shape[1], PIECE):
        changes = changes_of(delta[:, start : start + PIECE], schema, dictionary)
        yield b"".join(orjson.dumps(change, option=orjson.OPT_APPEND_NEWLINE) for change in changes)
