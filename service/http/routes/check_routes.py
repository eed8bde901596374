"""Checks of views: compared with a new computation, while the service goes on."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from service.http.access import lanes_of, queries_of, runtime_of
from service.http.attending import attended, caller_of
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.reading.duck import QueryEvaluator
from service.reading.row_formats import json_rows
from service.running.runtime import Runtime
from service.running.view_comparison import ViewComparison
from service.sql.view_referee import judge

router = APIRouter(route_class=StrictRoute, prefix="/v1/views", tags=["views"])


class DifferingRow(BaseModel):
    """How many copies of a row the view has, and how many a new computation gives."""

    row: dict[str, object]
    maintained: int
    recomputed: int


class DifferingError(BaseModel):
    """How many rows of the view fail with a message, and how many of a new computation."""

    message: str
    maintained: int
    recomputed: int


class CheckModel(BaseModel):
    """Whether the view is what its query gives at `epoch`. `rows` and `errors` show the first differences."""

    view: str
    epoch: int
    equal: bool
    size: int = Field(description="The number of the view's rows, copies included.")
    differing: int = Field(description="The number of distinct rows that differ.")
    rows: list[DifferingRow]
    errors: list[DifferingError]


Way = Annotated[
    Literal["rebuild", "duckdb"],
    Query(description="Who computes the view anew: the engine, from its tables, or DuckDB, as a query."),
]


@router.post("/{view}/check")
async def check_view(request: Request, view: str, by: Way = "rebuild") -> CheckModel:
    """Compute a view anew at the newest epoch, and compare it with its maintained rows.

    The service goes on meanwhile. The check ends if its client disconnects.
    """
    runtime, caller, name = runtime_of(request), caller_of(request), fold_relation(view)

    def rebuilt() -> CheckModel:
        return _model(runtime, runtime.check_view(name, caller))

    def judged(duck: QueryEvaluator) -> CheckModel:
        return _model(runtime, judge(name, runtime.readable, runtime.dictionary, duck))

    if by == "duckdb":
        return await attended(request, caller, queries_of(request).readers.in_turn(caller, judged))
    return await attended(request, caller, lanes_of(request).checks.run(rebuilt))


def _model(runtime: Runtime, found: ViewComparison) -> CheckModel:
    return CheckModel(
        view=found.name,
        epoch=found.epoch,
        equal=found.is_equal,
        size=found.rows,
        differing=found.differing,
        rows=_rows(runtime, found),
        errors=[
            DifferingError(message=message, maintained=old, recomputed=new)
            for message, old, new in found.errors
        ],
    )


def _rows(runtime: Runtime, found: ViewComparison) -> list[DifferingRow]:
    rows = json_rows(found.words, found.schema, runtime.dictionary)
    counts = zip(rows, found.maintained.tolist(), found.recomputed.tolist(), strict=True)
    return [DifferingRow(row=row, maintained=old, recomputed=new) for row, old, new in counts]
