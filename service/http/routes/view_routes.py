"""Views: create, list, describe, drop, explain."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from planner.dialects.standing import standing_of
from planner.errors import Unsupported
from planner.explain import analyze, explain
from planner.relation_names import schema_of
from service.accounts.audit import about
from service.accounts.principals import readable_by
from service.decoding.parsing import JSON
from service.definitions.definition import Definition
from service.errors import Conflict
from service.http.access import door_of, lanes_of, principal_of, runtime_of, timeline_of
from service.http.attending import attended, caller_of
from service.http.branch_parameter import OnBranch
from service.http.cost_models import ESTIMATE_ANSWER, budget_of, view_estimate
from service.http.media_schemas import answered_as
from service.http.models import (
    BuildProgress,
    CreatedView,
    NewView,
    ViewModel,
    Views,
    index_models,
    shown_columns,
)
from service.http.routes.strict import StrictRoute
from service.http.search_paths import path_of
from service.names import fold_relation, in_path
from service.running.view_build import ViewBuild
from service.running.view_timeline import ViewTimeline
from service.sql.allowing import cost_seen_by, observed_by
from service.sql.caller_scope import CallerScope
from service.sql.script_session import ScriptSession

Stage = Annotated[
    Literal["logical", "optimized", "dataflow", "supersteps", "analyze"],
    Query(description="How far the plan has come; `analyze` has measurements too."),
]
DryRun = Annotated[bool, Query(description="Estimate the view instead of creating it.")]
Format = Annotated[Literal["text", "json", "mermaid"], Query(description="How the plan is written.")]
router = APIRouter(route_class=StrictRoute, prefix="/v1/views", tags=["views"])


@router.post("", status_code=201, response_model=CreatedView, responses={200: ESTIMATE_ANSWER})
async def create_view(
    request: Request, new: NewView, response: Response, dry_run: DryRun = False, branch: OnBranch = None
) -> CreatedView | Response:
    """Create a view, if it fits its budget. Its rows and history can be read when the response arrives. A dry
    run says what the view would cost, and makes nothing."""
    timeline, caller = timeline_of(request, branch), caller_of(request)
    about(f"{'estimate' if dry_run else 'create'} view {new.name}")
    name, principal = fold_relation(new.name), principal_of(request)
    principal.require_defining(schema_of(name))
    if new.breach is not None and timeline.name:
        raise Unsupported("an assertion on a branch is not supported", "make a view, or assert it on main")
    session = ScriptSession(path_of(new.search_path), branch=timeline.name or None)
    names = CallerScope(*door_of(request).parts, caller, session).names()
    budget = budget_of(new.budget)
    if dry_run:
        estimating = timeline.estimate_view(name, new.sql, new.dialect, caller, names)
        planned, cost = await attended(request, caller, estimating)
        estimate = view_estimate(planned, cost_seen_by(principal, cost), new.sql, budget)
        return Response(estimate.model_dump_json(), media_type=JSON)
    definition = await timeline.create_view(
        name,
        new.sql,
        new.dialect,
        readable=readable_by(principal),
        names=names,
        breach=new.breach,
        budget=budget,
    )
    response.headers["Location"] = f"/v1/views/{in_path(definition.name)}"
    return CreatedView(**view_model(timeline, definition).model_dump(), epoch=definition.created)


@router.get("")
async def list_views(request: Request, branch: OnBranch = None) -> Views:
    """List all views, by name."""
    timeline, principal = timeline_of(request, branch), principal_of(request)
    made = {name: d for name, d in timeline.definitions().items() if d.is_view}
    building = {name: build.intended.definition for name, build in timeline.builds.items()}
    shown = (d for name, d in sorted({**building, **made}.items()) if principal.sees(name))
    return Views(views=[view_model(timeline, definition) for definition in shown])


@router.get("/{view}")
async def describe_view(request: Request, view: str, branch: OnBranch = None) -> ViewModel:
    """Describe a view."""
    timeline, name = timeline_of(request, branch), fold_relation(view)
    known, build = timeline.readable.known, timeline.builds.get(name)
    if build is not None and name not in known.all:
        return view_model(timeline, build.intended.definition)
    return view_model(timeline, known.get(name, view=True))


@router.delete("/{view}", status_code=204)
async def drop_view(request: Request, view: str, branch: OnBranch = None) -> None:
    """Drop a view, or end its building. 409 while another view reads it."""
    await timeline_of(request, branch).drop_view(fold_relation(view))


@router.post("/{view}/rebuild")
async def rebuild_view(request: Request, view: str) -> ViewModel:
    """Build a failed view again, as of now: it has no past. One that has not failed stays as it is."""
    runtime = runtime_of(request)
    return view_model(runtime, await runtime.rebuild_view(fold_relation(view)))


@router.get("/{view}/plan", response_class=Response, responses=answered_as("text/plain", JSON))
async def explain_view(
    request: Request,
    view: str,
    stage: Stage = "optimized",
    format: Format = "text",
    branch: OnBranch = None,
) -> Response:
    """Explain a view: its logical or optimized relational form, its dataflow, its supersteps on Spark, or its
    dataflow with measurements."""
    timeline = timeline_of(request, branch)
    definition = timeline.definition(fold_relation(view), view=True)
    planned = definition.planned
    reason = timeline.failure(definition.name) if stage == "analyze" else definition.failure
    if planned is None or reason is not None:
        raise Conflict(f"view {view} cannot run: {reason}", code="view_failed")
    if stage == "analyze":
        operators = await lanes_of(request).observing.run(timeline.observe, definition.name)
        shown = observed_by(principal_of(request), operators)
        explained = await lanes_of(request).planning.run(analyze, planned, shown, format)
    else:
        explained = await lanes_of(request).planning.run(explain, planned, stage, format)
    media_type = "application/json" if format == "json" else "text/plain; charset=utf-8"
    return Response(explained, media_type=media_type)


def view_model(timeline: ViewTimeline, definition: Definition) -> ViewModel:
    state, reason = timeline.readable.state_of(definition)
    notices = [it for it in (standing_of(definition.dialect).notice, timeline.notice(definition.name)) if it]
    build = timeline.builds.get(definition.name) if state == "building" else None
    return ViewModel(
        name=definition.name,
        in_schema=schema_of(definition.name),
        sql=definition.sql,
        dialect=definition.dialect,
        columns=shown_columns(definition),
        state=state,
        reason=reason,
        indexes=index_models(definition, timeline.readable),
        comment=definition.details.comments.get(""),
        progress=None if build is None else _progress(build),
        breach=definition.details.breach,
        notices=notices or None,
    )


def _progress(build: ViewBuild) -> BuildProgress:
    done = build.progress
    return BuildProgress(
        reads=build.building.ground.rows, rows=done.rows, rounds=done.rounds, share=done.share
    )
