"""SQL over HTTP: a script in, a result for each statement out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.responses import Response, StreamingResponse

from engine.errors import InvalidValue
from planner.errors import PlannerError
from service.accounts.principals import Principal
from service.decoding.parsing import JSON
from service.decoding.pieces import check_values
from service.errors import HistoryGone, Invalid, as_seen, problem_of
from service.http.access import door_of, lanes_of, principal_of, runtime_of
from service.http.attending import attended, caller_of
from service.http.bodies import read_body
from service.http.branch_parameter import BRANCH_MEANING
from service.http.given_parameters import is_plain, parameters_of
from service.http.media_schemas import answered_as
from service.http.negotiation import accepts, media_type_for
from service.http.routes.row_routes import epoch_of
from service.http.routes.strict import StrictRoute
from service.http.search_paths import MEANING, GivenPath, path_of
from service.names import fold_name
from service.problems import MEDIA_TYPE, members
from service.reading.answer_readings import answer_reading
from service.reading.kept_answers import AnswerPlace
from service.reading.row_formats import OFFERED, STREAMS
from service.running.timeline import Timeline
from service.sql.branching import set_branch
from service.sql.script_failures import ScriptFailed
from service.sql.script_session import ScriptSession
from service.sql.tasks import Result

router = APIRouter(route_class=StrictRoute, tags=["sql"])

Format = Annotated[
    Literal["json", "ndjson", "csv", "arrow", "parquet"] | None,
    Query(description="The format of the results, whatever Accept says."),
]


class Script(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sql: str | None = Field(default=None, description="Statements, separated by semicolons.")
    dialect: str = Field(default="postgres", description="Any dialect that sqlglot reads.")
    parameters: list[Any] | dict[str, Any] | None = Field(
        default=None,
        description="Values for `$1`, `$2`, ... (an array) or for `:name` (an object). A value is JSON, or "
        '`{"type": "DATE", "value": "2026-01-01"}`.',
    )
    as_of: int | str | None = Field(
        default=None,
        description="The epoch, or an RFC 3339 time, that queries read where they name none themselves. "
        "No statement may change anything then.",
    )
    search_path: GivenPath = Field(default=None, description=MEANING)
    branch: str | None = Field(default=None, description=f"{BRANCH_MEANING} `SET branch` changes it.")
    limit: int | None = Field(
        default=None, ge=1, description="The most rows of each result; one that has more has a `next`."
    )
    cursor: str | None = Field(
        default=None, description="`next` of a result, instead of `sql`: its following rows."
    )

    @model_validator(mode="after")
    def _of_one(self) -> Script:
        if (self.sql is None) == (self.cursor is None):
            raise ValueError("send either sql or cursor")
        if self.cursor is not None and self.parameters is not None:
            raise ValueError("a cursor has its parameters already")
        if self.cursor is not None and self.as_of is not None:
            raise ValueError("a cursor has its epoch already")
        return self


class ColumnResult(BaseModel):
    name: str
    type: str


class ResultModel(BaseModel):
    """`columns` and `rows` if the statement returns rows; `count` if it counts rows; `next`, a cursor, if
    there are more rows; `notices` if there is something to know of a statement that has succeeded."""

    statement: str
    epoch: int
    count: int | None = None
    columns: list[ColumnResult] | None = None
    rows: list[list] | None = None
    notices: list[str] | None = None
    next: str | None = None


class Results(BaseModel):
    results: list[ResultModel]


_BODY = {"required": True, "content": {"application/json": {"schema": Script.model_json_schema()}}}


@router.post(
    "/v1/sql",
    response_class=Response,
    responses=answered_as(*OFFERED, model=Results),
    openapi_extra={"requestBody": _BODY},
)
async def run_sql(request: Request, format: Format = None) -> Response:
    """Run a script. It stops at the first statement that fails; the problem has that statement's `index`.

    In a format other than JSON, the answer has the rows of the last statement alone. A request whose Accept
    also has JSON gets JSON if the last statement returns no rows, or rows that the other format cannot say.
    """
    media_type = media_type_for(request, format, OFFERED)
    or_json = media_type != JSON and format is None and accepts(request.headers.get("accept"), JSON)
    script = await _script(request)
    door, lanes = door_of(request), lanes_of(request)
    if script.cursor is not None:
        place = AnswerPlace.decode(script.cursor)
        results, start = [door.kept.get(place.answer, principal_of(request))], place.start
    else:
        place, start = None, 0
        try:
            results = await _run(request, script, media_type != JSON and not or_json)
        except ScriptFailed as failed:
            return _failure(failed, principal_of(request))
    if media_type != JSON and results:
        try:
            return await _stream(request, results[-1], media_type, start, script.limit)
        except (Invalid, InvalidValue, PlannerError):
            if not or_json:
                raise
    keep = partial(door.kept.keep, owner=principal_of(request))
    body = await lanes.answers.run(_document, results, script.limit, place, keep)
    return Response(body, media_type=JSON)


async def _script(request: Request) -> Script:
    limit = runtime_of(request).settings.sql_limit
    body = await read_body(request, limit, lanes_of(request).planning)
    check_values(body)
    try:
        return Script.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None


async def _run(request: Request, script: Script, rows_last: bool) -> list[Result]:
    caller, runtime = caller_of(request), runtime_of(request)
    given, types = script.parameters, runtime.types()
    if is_plain(given):
        parameters = parameters_of(given, types)
    else:
        parameters = await lanes_of(request).planning.run(parameters_of, given, types)
    session = ScriptSession(path_of(script.search_path))
    set_branch(None if script.branch is None else fold_name(script.branch), session, runtime)
    timeline = runtime if session.branch is None else runtime.branches.timeline(session.branch)
    as_of = await _epoch(timeline, script.as_of)
    work = door_of(request).run(
        script.sql or "", script.dialect, caller, parameters, rows_last, as_of, session
    )
    return await attended(request, caller, work)


async def _epoch(timeline: Timeline, as_of: int | str | None) -> int | None:
    """The epoch that queries read, if not the newest. Raises HistoryGone for a time before all epochs."""
    if as_of is None:
        return None
    epoch = await epoch_of(timeline, str(as_of), timeline.readable.newest)
    if epoch == 0 and not str(as_of).isdigit():
        raise HistoryGone(f"there is no epoch at or before {as_of}", "the first epoch is later")
    return epoch


def _document(
    results: list[Result], limit: int | None, place: AnswerPlace | None, keep: Callable[[Result], str]
) -> bytes:
    """The results as JSON; with a `place`, those of a kept answer from there on. `keep` names a new one."""
    documents = []
    for result in results:
        start = 0 if place is None else place.start
        stop = result.size if limit is None else min(start + limit, result.size)
        document = result.document(start, stop)
        if stop < result.size:
            name = keep(result) if place is None else place.answer
            document["next"] = AnswerPlace(name, stop).encode()
        documents.append(document)
    return orjson.dumps({"results": documents})


async def _stream(
    request: Request, result: Result, media_type: str, start: int, limit: int | None
) -> Response:
    """The rows of a result in a format of rows."""
    if result.answer is None:
        raise Invalid("the last statement returned no rows", "leave out the format", code="invalid_query")
    lane = lanes_of(request).answers
    reading, dictionary = await lane.run(answer_reading, result.answer, result.epoch)
    stop = reading.size if limit is None else min(start + limit, reading.size)
    stream = STREAMS[media_type]
    pieces = await lane.run(stream.checked, reading, dictionary, start, stop)
    return StreamingResponse(lane.each(pieces), headers=_told(result), media_type=stream.media_type)


def _told(result: Result) -> dict[str, str]:
    """What JSON says of a result besides its rows."""
    count = {} if result.count is None else {"Freshet-Count": str(result.count)}
    return {"Freshet-Epoch": str(result.epoch), "Freshet-Statement": result.statement, **count}


def _failure(failed: ScriptFailed, principal: Principal) -> Response:
    """The failed statement's problem, with its index. Raises the error if it is a fault of the service."""
    problem = problem_of(as_seen(failed.error, principal))
    if problem is None or problem.status == 500:
        raise failed.error
    document = members(problem) | {"index": failed.index}
    headers = {"Retry-After": "1"} if problem.status in (429, 503) else None
    return Response(orjson.dumps(document), problem.status, headers, MEDIA_TYPE)
