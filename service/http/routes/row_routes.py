"""The rows of a table or a view at an epoch: JSON pages, or all rows as a stream.

`where` and `order_by` run in workers, within the limits of ad-hoc queries, and end when the client leaves.
Rows that need no query are read in the service itself: those that are kept for the next pages, and those that
`where` names by the first columns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from engine.codec.schemas import per_schema
from engine.runtime.engine import Snapshot
from planner.limits import within
from planner.parsing.vocabulary import spelled_out
from service.decoding.parsing import JSON
from service.definitions.definition import Definition
from service.errors import BadRequest, Invalid
from service.http.access import lanes_of, queries_of, reader_of, timeline_of
from service.http.attending import attended, caller_of
from service.http.branch_parameter import OnBranch
from service.http.media_schemas import TableRows, ViewRows, answered_as
from service.http.models import column_models
from service.http.negotiation import media_type_for
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.reading.duck import QueryEvaluator
from service.reading.page_cursors import Cursor
from service.reading.query_errors import NeedsQuery
from service.reading.reads import Query as RowQuery
from service.reading.reads import check_health
from service.reading.row_formats import OFFERED, STREAMS, json_rows
from service.reading.row_readings import Reading
from service.reading.valid_rows import valid_rows
from service.running.timeline import Timeline

_columns = per_schema(lambda schema: [column.model_dump() for column in column_models(schema)])
_EPOCH = re.compile("[0-9]{1,1000}")
router = APIRouter(route_class=StrictRoute, tags=["rows"])

_OF_VIEW = answered_as(*OFFERED, model=ViewRows)
_OF_TABLE = answered_as(*OFFERED, model=TableRows)

AsOf = Annotated[str | None, Query(description="An epoch, or an RFC 3339 time; by default the newest epoch.")]
ValidAt = Annotated[
    str | None, Query(description="An RFC 3339 time: the rows that hold then, without their periods.")
]
Where = Annotated[str | None, Query(description="An SQL predicate over the columns.")]
OrderBy = Annotated[str | None, Query(description="Sort keys, as SQL's ORDER BY takes them.")]
Limit = Annotated[int | None, Query(ge=0, description="The most rows to return.")]
After = Annotated[str | None, Query(description="`next` of the previous page.")]
Errors = Annotated[Literal["skip"] | None, Query(description="`skip`: read a view that has errors.")]
Format = Annotated[
    Literal["json", "ndjson", "csv", "arrow", "parquet"] | None,
    Query(description="The format of the rows, whatever Accept says."),
]


@dataclass(frozen=True)
class _Wish:
    """The parameters of a request; None for those that it leaves out."""

    as_of: str | None
    valid_at: str | None
    where: str | None
    order_by: str | None
    limit: int | None
    cursor: Cursor | None
    skip_errors: bool
    format: str | None

    @property
    def first(self) -> tuple[int, ...] | None:
        """The words of the row at which the page begins; None without a cursor that has them."""
        return self.cursor.first if self.cursor else None


@router.get(
    "/v1/views/{view}/rows", operation_id="read_view_rows", response_class=Response, responses=_OF_VIEW
)
async def view_rows(
    request: Request,
    view: str,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    where: Where = None,
    order_by: OrderBy = None,
    limit: Limit = None,
    cursor: After = None,
    errors: Errors = None,
    format: Format = None,
    branch: OnBranch = None,
) -> Response:
    """The view's rows at any epoch that is kept, with their periods or at one valid time if the view has
    any. 409 while some of its rows fail."""
    timeline = timeline_of(request, branch)
    readable = timeline.readable
    definition = readable.definition(fold_relation(view), view=True)
    wish = _wish(definition, as_of, valid_at, where, order_by, limit, cursor, errors == "skip", format)
    return await _rows(request, timeline, readable.snapshot, definition, "view", wish)


@router.get(
    "/v1/tables/{table}/rows", operation_id="read_table_rows", response_class=Response, responses=_OF_TABLE
)
async def table_rows(
    request: Request,
    table: str,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    where: Where = None,
    order_by: OrderBy = None,
    limit: Limit = None,
    cursor: After = None,
    format: Format = None,
    branch: OnBranch = None,
) -> Response:
    """The table's rows at any epoch that is kept, with their periods or at one valid time if the table has
    any."""
    timeline = timeline_of(request, branch)
    readable = timeline.readable
    definition = readable.definition(fold_relation(table), view=False)
    wish = _wish(definition, as_of, valid_at, where, order_by, limit, cursor, False, format)
    return await _rows(request, timeline, readable.snapshot, definition, "table", wish)


async def _rows(
    request: Request, timeline: Timeline, snapshot: Snapshot, definition: Definition, kind: str, wish: _Wish
) -> Response:
    media_type = media_type_for(request, wish.format, OFFERED)
    settings = timeline.settings
    if media_type == JSON and (wish.limit or 0) > settings.page_rows_most:
        raise Invalid(
            f"limit is {wish.limit}, more than {settings.page_rows_most}",
            "read page by page with a cursor, or use another format, which has no limit",
            code="limit_too_large",
        )
    newest = snapshot.upper - 1
    epoch = wish.cursor.epoch if wish.cursor is not None else await epoch_of(timeline, wish.as_of, newest)

    limit = settings.page_rows if wish.limit is None and media_type == JSON else wish.limit
    start = wish.cursor.offset if wish.cursor else 0

    most = None if limit is None else start + limit + 1
    lanes = lanes_of(request)
    headers = {"Freshet-Epoch": str(epoch)}
    at_once = _at_once(request, timeline, definition, snapshot, epoch, wish)
    if at_once is not None and media_type == JSON:
        body = _page(timeline, definition, kind, wish, at_once)
        return Response(body, headers=headers, media_type=JSON)
    reading = at_once or await _reading(request, timeline, definition, snapshot, epoch, wish, most)
    if media_type == JSON:
        body = await lanes.reads.run(_page, timeline, definition, kind, wish, reading)
        return Response(body, headers=headers, media_type=JSON)
    stream = STREAMS[media_type]
    stop = reading.size if limit is None else min(reading.size, start + limit)
    pieces = await lanes.reads.run(stream.checked, reading, timeline.dictionary, start, stop)
    return StreamingResponse(lanes.reads.each(pieces), headers=headers, media_type=stream.media_type)


def _at_once(
    request: Request,
    timeline: Timeline,
    definition: Definition,
    snapshot: Snapshot,
    epoch: int,
    wish: _Wish,
) -> Reading | None:
    """The few rows that the request asks for by their words; None if more has to be done for it."""
    if wish.where is None or wish.valid_at is not None or timeline.vocabulary().functions:
        return None
    check_health(definition, snapshot, epoch, wish.skip_errors)
    query = RowQuery(wish.where, wish.order_by)
    return reader_of(request, timeline).at_once(definition, snapshot, epoch, query)


async def _reading(
    request: Request,
    timeline: Timeline,
    definition: Definition,
    snapshot: Snapshot,
    epoch: int,
    wish: _Wish,
    most: int | None,
) -> Reading:
    """The rows that the request asks for: those from the page's beginning on, at least `most` if there are as
    many; all if it is None, and those that a query chooses."""
    reader, lanes = reader_of(request, timeline), lanes_of(request)
    where, order_by = wish.where, wish.order_by
    if timeline.vocabulary():
        spell = lanes.planning.run
        where, order_by = (
            await spell(_spelled_out, where, timeline),
            await spell(_spelled_out, order_by, timeline),
        )
    query = RowQuery(where, order_by)

    at = None if wish.valid_at is None else _valid_time(wish.valid_at)

    def read(duck: QueryEvaluator | None = None) -> Reading:
        check_health(definition, snapshot, epoch, wish.skip_errors)
        rows = reader.read(definition, snapshot, epoch, query, duck)
        return rows if at is None or definition.period is None else valid_rows(rows, definition.period, at)

    def page() -> Reading:
        check_health(definition, snapshot, epoch, wish.skip_errors)
        return reader.page(definition, snapshot, epoch, wish.first, most or 0)

    if query == RowQuery():
        return await lanes.reads.run(read if most is None or at is not None else page)
    try:
        return await lanes.lookups.run(read)
    except NeedsQuery:
        caller = caller_of(request)
        return await attended(request, caller, queries_of(request).rows.in_turn(caller, read))


def _page(timeline: Timeline, definition: Definition, kind: str, wish: _Wish, reading: Reading) -> bytes:
    """The JSON document of one page."""
    limit = timeline.settings.page_rows if wish.limit is None else wish.limit
    start = wish.cursor.offset if wish.cursor else 0
    stop = start + limit
    following = None
    if stop < reading.size:
        following = _following(definition, wish, reading, stop).encode()
    return orjson.dumps(
        {
            kind: definition.name,
            "epoch": reading.epoch,
            "columns": _columns(reading.schema),
            "rows": json_rows(reading.part(start, stop), reading.schema, timeline.dictionary),
            "next": following,
        }
    )


def _following(definition: Definition, wish: _Wish, reading: Reading, stop: int) -> Cursor:
    """The cursor of the page that begins at row `stop` of the reading."""
    chosen = wish.where or wish.order_by or wish.valid_at
    first, offset = (None, stop) if chosen else reading.place(stop)
    query = (wish.as_of, wish.where, wish.order_by)
    return Cursor(definition.id, reading.epoch, offset, *query, wish.skip_errors, first, wish.valid_at)


def _wish(
    definition: Definition,
    as_of: str | None,
    valid_at: str | None,
    where: str | None,
    order_by: str | None,
    limit: int | None,
    cursor: str | None,
    skip_errors: bool,
    format: str | None,
) -> _Wish:
    """The request's parameters; with a cursor the cursor's, which the others may only repeat."""
    where, order_by = where or None, order_by or None
    if valid_at is not None and definition.period is None:
        raise BadRequest(
            f"{definition.name} has no valid time", "leave valid_at out", code="invalid_valid_at"
        )
    if cursor is None:
        return _Wish(as_of, valid_at, where, order_by, limit, None, skip_errors, format)
    found = Cursor.decode(cursor)
    kept = (found.as_of, found.valid_at, found.where, found.order_by)
    given = (as_of, valid_at, where, order_by)
    fits = found.first is None or len(found.first) == len(definition.schema)
    same = all(g in (None, k) for g, k in zip(given, kept, strict=True))
    if found.relation != definition.id or not fits or not same:
        raise BadRequest(
            "the cursor belongs to another query", "start again without a cursor", code="cursor_mismatch"
        )
    return _Wish(*kept, limit, found, skip_errors or found.skip_errors, format)


def _spelled_out(text: str | None, timeline: Timeline) -> str | None:
    """A predicate or sort keys with the bodies of functions instead of their calls."""
    if text is None:
        return None
    with within(timeline.settings.planning_limits):
        return spelled_out(text, "postgres", timeline.vocabulary())


async def epoch_of(timeline: Timeline, as_of: str | None, newest: int) -> int:
    """The epoch of a client's number or time; the newest for None."""
    if as_of is None:
        return newest
    if _EPOCH.fullmatch(as_of):
        return int(as_of)
    return min(await timeline.epoch_at(parse_time(as_of)), newest)


def parse_time(text: str) -> datetime:
    """An RFC 3339 time; BadRequest for anything else. A space that was a `+` in the URL counts as one."""
    time = _time(text)
    if time is None:
        raise BadRequest(
            f"as_of is {text!r}", "use an epoch, or a time like 2026-01-01T00:00:00Z", code="invalid_as_of"
        )
    return time


def _valid_time(text: str) -> datetime:
    """The same for a valid time, which no epoch is."""
    time = _time(text)
    if time is None:
        raise BadRequest(
            f"valid_at is {text!r}", "use a time like 2026-01-01T00:00:00Z", code="invalid_valid_at"
        )
    return time


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(re.sub(r" (?=\d\d:\d\d$)", "+", text))
    except ValueError:
        return None
    return None if time.tzinfo is None else time
