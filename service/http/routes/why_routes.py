"""Why a view has a row, and why a row has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import orjson
from fastapi import APIRouter, Query, Request, Response

from engine.operators.allowance import Spending
from engine.state.dictionary import Dictionary
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.catalog.branch_records import MAIN
from service.decoding.parsing import JSON
from service.definitions.definition import Definition
from service.derivations.asking import answered, check_readable, row_of, tables_of, wish_of
from service.derivations.moved import MovedRow, moved
from service.derivations.reason import Explained, Reason
from service.derivations.round_listing import ListedRounds, rounds_of
from service.derivations.search import SearchLimits
from service.derivations.told import document, lines, missing, reason_document
from service.derivations.why import AskedEpoch, Why
from service.errors import BadRequest
from service.http.access import lanes_of, prepared_programs_of, principal_of, runtime_of, timeline_of
from service.http.attending import attended, caller_of
from service.http.branch_parameter import OnBranch
from service.http.media_schemas import answered_as
from service.http.models import moment
from service.http.routes.row_routes import epoch_of
from service.http.routes.strict import StrictRoute
from service.http.routes.why_models import (
    MovedModel,
    OriginModel,
    RecursionRounds,
    RoundCount,
    RoundRow,
    WhyChanged,
    WhyNot,
)
from service.names import fold_relation
from service.pipeline.epoch_origins import EpochOrigin, epoch_origins
from service.reading.epoch_listing import time_of
from service.reading.row_formats import changes_of, json_rows
from service.running.branches.branch_timeline import BranchTimeline
from service.running.timeline import Timeline

T = TypeVar("T")
router = APIRouter(route_class=StrictRoute, prefix="/v1/views", tags=["views"])
_MOST_CAUSES, _MOST_FACTS = 1_000, 5_000
_FORM = 'send row={"column": value, ...}'

Row = Annotated[
    str,
    Query(description="The row, as a JSON object; with fewer columns than the view's, the first such row."),
]
AsOf = Annotated[str | None, Query(description="An epoch or a time; by default the newest epoch.")]


@router.get("/{view}/why", response_class=Response, responses=answered_as("text/plain", JSON))
async def explain_row(
    request: Request,
    view: str,
    row: Row,
    as_of: AsOf = None,
    branch: OnBranch = None,
    causes: Annotated[int, Query(ge=1, le=_MOST_CAUSES, description="The most causes of a group.")] = 10,
    facts: Annotated[int, Query(ge=1, le=_MOST_FACTS, description="The most rows that are explained.")] = 500,
    format: Annotated[Literal["json", "text"], Query(description="How it is told.")] = "json",
) -> Response:
    """Why a view has a row: the rows of tables from which it follows, and how. Nothing is kept for it; it is
    found by queries over the epoch's rows, beside everything that runs. It needs SELECT on all tables that
    the view is computed from, and ends if its client disconnects."""
    timeline = timeline_of(request, branch)
    definition = timeline.readable.known.get(fold_relation(view), view=True)
    at = await epoch_of(timeline, as_of, timeline.readable.newest)
    asked = await _asked(request, timeline, definition, at, SearchLimits(causes, facts))
    values = _values(row)

    def explained(spending: Spending) -> tuple[Explained, np.ndarray]:
        check_readable(definition, asked)
        words = row_of(definition, values, asked)
        return Why(asked, spending).of_view(definition, words), words

    found, words = await _answer(request, definition, explained)
    dictionary = timeline.dictionary
    if format == "text":
        text = "\n".join(lines(found, dictionary)) + "\n"
        return Response(text, media_type="text/plain; charset=utf-8")
    told = {"view": definition.name, "epoch": at, "row": _shown(definition, words, dictionary)}
    return Response(orjson.dumps({**told, **document(found, dictionary)}), media_type=JSON)


@router.get("/{view}/why-not")
async def explain_absence(
    request: Request, view: str, row: Row, as_of: AsOf = None, branch: OnBranch = None
) -> WhyNot:
    """Why a view has no such row: the condition, the join or the group at which it fails, and the rows that
    tables lack. It needs what the explanation of a row needs."""
    timeline = timeline_of(request, branch)
    definition = timeline.readable.known.get(fold_relation(view), view=True)
    at = await epoch_of(timeline, as_of, timeline.readable.newest)
    asked = await _asked(request, timeline, definition, at, SearchLimits())
    values = _values(row)

    def explained(spending: Spending) -> Reason:
        check_readable(definition, asked)
        return Why(asked, spending).why_not(definition, wish_of(definition, values, asked))

    found, dictionary = await _answer(request, definition, explained), timeline.dictionary
    return WhyNot(
        view=definition.name,
        epoch=at,
        row=dict(values),
        because=reason_document(found, dictionary),
        missing=missing(found, dictionary),
    )


@router.get("/{view}/why-changed")
async def explain_change(
    request: Request,
    view: str,
    row: Row,
    since: Annotated[int | None, Query(ge=0, description="Only later epochs; by default all kept.")] = None,
    until: Annotated[int | None, Query(ge=0, description="No later epochs; by default the newest.")] = None,
    branch: OnBranch = None,
) -> WhyChanged:
    """The epochs in which a row came or went, with the changes of tables that did it. It needs what the
    explanation of a row needs."""
    timeline = timeline_of(request, branch)
    definition = timeline.readable.known.get(fold_relation(view), view=True)
    newest = timeline.readable.newest
    asked = await _asked(request, timeline, definition, newest, SearchLimits())
    relations = asked.snapshot.relations
    names = {definition.name, *tables_of(definition), *definition.reads} & relations.keys()
    kept = max(relations[name].since for name in names)
    begin, end = kept if since is None else since, newest if until is None else until
    values = _values(row)

    def explained(spending: Spending) -> tuple[list[MovedRow], np.ndarray]:
        for epoch in (begin, end):
            check_readable(definition, replace(asked, epoch=epoch))
        words = row_of(definition, values, asked, of_past=True)
        return moved(asked, definition, words, (begin, end), spending), words

    found, words = await _answer(request, definition, explained)
    times = await timeline.times_between(begin, end)
    committed = {it.epoch: at for it in found if (at := time_of(it.epoch, times)) is not None}
    id = timeline.record.id if isinstance(timeline, BranchTimeline) else MAIN
    origins = await timeline.asked_catalog(lambda connection: epoch_origins(connection, committed, id))
    principal = principal_of(request)
    shown = [
        _moved(
            it,
            moment(committed.get(it.epoch)),
            origins.get(it.epoch) if _may_change(principal, it) else None,
            timeline,
        )
        for it in found
    ]
    row_shown = _shown(definition, words, timeline.dictionary)
    return WhyChanged(view=definition.name, row=row_shown, epochs=shown)


@router.get("/{view}/rounds")
async def list_rounds(
    request: Request,
    view: str,
    name: Annotated[str | None, Query(description="The recursive name, if there are several.")] = None,
    as_of: AsOf = None,
    branch: OnBranch = None,
    limit: Annotated[int, Query(ge=0, le=100_000, description="The most rows to return.")] = 1000,
) -> RecursionRounds:
    """Each row of a view's recursion with the round in which it came, and the one in which it went. The
    recursion is computed again, beside everything that runs. It needs what the explanation of a row needs."""
    timeline = timeline_of(request, branch)
    definition = timeline.readable.known.get(fold_relation(view), view=True)
    at = await epoch_of(timeline, as_of, timeline.readable.newest)
    asked = await _asked(request, timeline, definition, at, SearchLimits())

    def listed(spending: Spending) -> ListedRounds:
        check_readable(definition, asked)
        return rounds_of(asked, definition, name, spending)

    found = await _answer(request, definition, listed)
    shown: list[dict[str, Any]] = changes_of(found.delta[:, :limit], found.schema, timeline.dictionary)
    return RecursionRounds(
        view=definition.name,
        epoch=at,
        name=found.name,
        rounds=[RoundCount(round=it, came=came, went=went) for it, came, went in found.counts()],
        rows=[RoundRow(round=it["epoch"], diff=it["diff"], row=it["row"]) for it in shown],
    )


async def _asked(
    request: Request, timeline: Timeline, view: Definition, epoch: int, limits: SearchLimits
) -> AskedEpoch:
    """What is asked, if the caller may read all that the answer can show."""
    readable = timeline.readable
    principal_of(request).require(Privilege.SELECT, *tables_of(view))
    known = min(epoch, readable.newest)
    found = time_of(known, await timeline.times_between(known, known))
    now = datetime(1970, 1, 1) + timedelta(microseconds=found or timeline.newest_time)
    rounds = timeline.settings.max_rounds
    return AskedEpoch(
        readable.known.all,
        readable.snapshot,
        epoch,
        now,
        timeline.dictionary,
        rounds,
        limits,
        prepared_programs_of(request),
    )


async def _answer(request: Request, view: Definition, work: Callable[[Spending], T]) -> T:
    caller = caller_of(request)
    runtime_of(request).memory.check("an explanation")
    answer = partial(answered, f"view {view.name}", caller, work)
    return await attended(request, caller, lanes_of(request).checks.run(answer))


def _values(row: str) -> Mapping[str, object]:
    try:
        values = orjson.loads(row)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"row is no JSON: {error}", _FORM, code="invalid_body") from None
    if not isinstance(values, dict) or not values:
        raise BadRequest("row is no JSON object with columns", _FORM, code="invalid_body")
    return values


def _shown(view: Definition, words: np.ndarray, dictionary: Dictionary) -> dict[str, object]:
    (shown,) = json_rows(words.reshape(-1, 1), view.schema, dictionary)
    return shown


def _may_change(principal: Principal, row: MovedRow) -> bool:
    """Whether a caller may know which request changed a row: whoever may change its tables too."""
    changing = (Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE)
    return all(any(principal.may(privilege, table) for privilege in changing) for table in row.changes)


def _moved(row: MovedRow, at: datetime | None, by: EpochOrigin | None, timeline: Timeline) -> MovedModel:
    found = {}
    for name, delta in row.changes.items():
        changes = changes_of(delta, timeline.definitions()[name].schema, timeline.dictionary)
        found[name] = [{"diff": change["diff"], "row": change["row"]} for change in changes]
    origin = None if by is None else OriginModel(**asdict(by))
    return MovedModel(epoch=row.epoch, committed_at=at, diff=row.diff, by=origin, changes=found)
