"""SQL over HTTP: a script in, a result for each statement out."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from service.decoding.pieces import check_values
from service.errors import problem_of
from service.http.access import door_of, lanes_of, runtime_of
from service.http.attending import attended, caller_of
from service.http.bodies import read_body
from service.http.routes.strict import StrictRoute
from service.http.sql_parameters import parameters_of
from service.problems import MEDIA_TYPE, members
from service.sql.script_door import ScriptFailed
from service.sql.tasks import Result

router = APIRouter(route_class=StrictRoute, tags=["sql"])


class Script(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sql: str = Field(description="Statements, separated by semicolons.")
    dialect: str = Field(default="postgres", description="Any dialect that sqlglot reads.")
    parameters: list[Any] | dict[str, Any] | None = Field(
        default=None,
        description="Values for `$1`, `$2`, ... (an array) or for `:name` (an object). A value is JSON, or "
        '`{"type": "DATE", "value": "2026-01-01"}`.',
    )


class ColumnResult(BaseModel):
    name: str
    type: str


class ResultModel(BaseModel):
    """`columns` and `rows` if the statement returns rows; `count` if it counts rows."""

    statement: str
    epoch: int
    count: int | None = None
    columns: list[ColumnResult] | None = None
    rows: list[list] | None = None


class Results(BaseModel):
    results: list[ResultModel]


_BODY = {"required": True, "content": {"application/json": {"schema": Script.model_json_schema()}}}


@router.post("/v1/sql", response_model=Results, openapi_extra={"requestBody": _BODY})
async def run_sql(request: Request) -> Response:
    """Run a script. It stops at the first statement that fails; the problem has that statement's `index`."""
    runtime = runtime_of(request)
    lane = lanes_of(request).planning
    body = await read_body(request, runtime.settings.sql_limit, lane)
    check_values(body)
    try:
        script = Script.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from None
    caller = caller_of(request)
    try:
        parameters = await lane.run(parameters_of, script.parameters, runtime.types())
        work = door_of(request).run(script.sql, script.dialect, caller, parameters)
        results = await attended(request, caller, work)
    except ScriptFailed as failed:
        return _failure(failed)
    return Response(await lanes_of(request).planning.run(_dump, results), media_type="application/json")


def _dump(results: list[Result]) -> bytes:
    return orjson.dumps({"results": [result.document() for result in results]})


def _failure(failed: ScriptFailed) -> Response:
    """The failed statement's problem, with its index. Raises the error if it is a fault of the service."""
    problem = problem_of(failed.error)
    if problem is None or problem.status == 500:
        raise failed.error
    document = members(problem) | {"index": failed.index}
    headers = {"Retry-After": "1"} if problem.status in (429, 503) else None
    return Response(orjson.dumps(document), problem.status, headers, MEDIA_TYPE)
