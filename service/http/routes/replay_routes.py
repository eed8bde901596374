"""Replays of views: what each operator did in one epoch, step by step."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from engine.plan.nodes import Node, sources_of
from engine.runtime.replay import Replay, ReplayStep, Sample
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from planner.explain import analyze
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.definitions.definition import Definition
from service.http.access import lanes_of, principal_of, runtime_of
from service.http.attending import attended, caller_of
from service.http.models import moment
from service.http.routes.row_routes import epoch_of
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.reading.epoch_listing import time_of
from service.reading.row_formats import json_rows
from service.running.view_replays import newest_change, replay_view

router = APIRouter(route_class=StrictRoute, prefix="/v1/views", tags=["views"])
_USUAL, _MOST = 5, 100


class PassedRow(BaseModel):
    """`diff` copies of a row that were passed on. The row has the columns that are known at this place."""

    diff: int
    row: dict[str, Any]


class ReplayStepModel(BaseModel):
    """One step of one operator."""

    operator: str = Field(description="The operator's `id` in the plan.")
    rounds: list[int] = Field(description="The rounds of the recursions around it, outermost first.")
    taken: int = Field(description="Differences that it took from its inputs.")
    passed: int = Field(description="Differences that it passed on.")
    rows: list[PassedRow] = Field(description="The first of those; none without SELECT on all tables.")


class ReplayModel(BaseModel):
    """The steps of an epoch, in their order. `plan` is that of EXPLAIN at the stage `analyze`, with the
    figures of the replay. `cut` says that there were more steps."""

    view: str
    epoch: int
    committed_at: datetime | None
    plan: dict[str, Any]
    steps: list[ReplayStepModel]
    cut: bool


@router.get("/{view}/replay")
async def replay_epoch(
    request: Request,
    view: str,
    as_of: Annotated[
        str | None,
        Query(
            description="The epoch, or a time such as 2026-01-31T12:00:00Z; by default the newest epoch that "
            "changed what the view reads."
        ),
    ] = None,
    rows: Annotated[int, Query(ge=0, le=_MOST, description="The most rows shown of each step.")] = _USUAL,
) -> ReplayModel:
    """Compute an epoch of a view again beside the running one, and tell which operators it touched, in which
    rounds, and what each passed on. It ends if its client disconnects."""
    runtime, caller, lanes = runtime_of(request), caller_of(request), lanes_of(request)
    readable = runtime.readable
    definition = readable.known.get(fold_relation(view), view=True)
    newest = newest_change(definition, readable.snapshot)
    at = await epoch_of(runtime, as_of, newest)
    shown = rows if _may_see(principal_of(request), definition) else 0

    def replayed() -> ReplayModel:
        found = replay_view(runtime, definition, at, shown, caller)
        return _model(definition, at, found, runtime.dictionary)

    model = await attended(request, caller, lanes.checks.run(replayed))
    model.committed_at = moment(time_of(at, await runtime.times_between(at, at)))
    return model


def _may_see(principal: Principal, definition: Definition) -> bool:
    """Whether a principal may read all rows that flow through a view."""
    plan: Node | None = None if definition.planned is None else definition.planned.plan
    sources = () if plan is None else sources_of(plan)
    return all(principal.may(Privilege.SELECT, source.name) for source in sources)


def _model(definition: Definition, epoch: int, found: Replay, dictionary: Dictionary) -> ReplayModel:
    assert definition.planned is not None
    return ReplayModel(
        view=definition.name,
        epoch=epoch,
        committed_at=None,
        plan=orjson.loads(analyze(definition.planned, found.operators, "json")),
        steps=[_step(step, dictionary) for step in found.steps],
        cut=found.is_cut,
    )


def _step(step: ReplayStep, dictionary: Dictionary) -> ReplayStepModel:
    rows = [] if step.sample is None else _rows(step.sample, dictionary)
    return ReplayStepModel(
        operator=f"o{step.operator}",
        rounds=list(step.rounds),
        taken=step.taken,
        passed=step.passed,
        rows=rows,
    )


def _rows(sample: Sample, dictionary: Dictionary) -> list[PassedRow]:
    shown = json_rows(sample.words, Schema(sample.columns), dictionary)
    return [PassedRow(diff=diff, row=row) for diff, row in zip(sample.diffs.tolist(), shown, strict=True)]
