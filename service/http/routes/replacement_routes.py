"""Replacements of views: make, list, describe and drop them; what they would change; and applying them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import numpy as np
import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from engine.runtime.upkeep import Upkeep
from engine.state.dictionary import Dictionary
from service.accounts.principals import readable_by
from service.catalog.replacement_records import NewQuery
from service.decoding.parsing import JSON
from service.errors import Invalid
from service.http.access import door_of, lanes_of, principal_of, runtime_of
from service.http.attending import caller_of
from service.http.media_schemas import answered_as
from service.http.models import moment
from service.http.negotiation import media_type_for
from service.http.routes.branch_routes import RowDifference
from service.http.routes.strict import StrictRoute
from service.http.search_paths import MEANING, GivenPath, path_of
from service.names import fold_name, fold_relation
from service.reading.row_formats import OFFERED, STREAMS, json_rows
from service.reading.row_readings import Reading
from service.running.branches.branch_diff import Difference
from service.running.replacements import Replacement
from service.running.runtime import Runtime
from service.sql.caller_scope import CallerScope
from service.sql.script_session import ScriptSession

router = APIRouter(route_class=StrictRoute, prefix="/v1/replacements", tags=["views"])


class NewViewQuery(BaseModel):
    """The query that a view is to have."""

    model_config = ConfigDict(extra="forbid")

    name: str
    sql: str


class NewReplacement(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    views: list[NewViewQuery] = Field(min_length=1)
    dialect: str = "postgres"
    search_path: GivenPath = Field(default=None, description=MEANING)


class ReplacedViewModel(BaseModel):
    """`sql` is the new query, if the view gets one; it is affected because it reads such views otherwise.
    With `changes`, it has another plan, which holds `bytes`, those that it shares included."""

    name: str
    sql: str | None
    changes: bool
    bytes: int | None


class ReplacementModel(BaseModel):
    """`state` is `building`, `ready`, `outdated` if what it reads was altered, so that it is built again, or
    `failed`, with the `reason`. `views` are all that it concerns, each after what it reads."""

    name: str
    state: str
    reason: str | None = None
    created: datetime
    views: list[ReplacedViewModel]


class ReplacementList(BaseModel):
    replacements: list[ReplacementModel]


class AppliedReplacement(BaseModel):
    """At `epoch`, the views go on under their new queries."""

    replacement: str
    epoch: int


class ReplacementPreview(BaseModel):
    """By what the rows of a view differ at `epoch`: `rows` is the number of all differences, and `next` the
    number of the first one that is not shown."""

    replacement: str
    view: str
    epoch: int
    rows: int
    next: int | None
    differences: list[RowDifference]


View = Annotated[
    str | None, Query(description="The view to compare; by default the only one that gets a query.")
]
AsOf = Annotated[int | None, Query(ge=0, description="The epoch to compare at; by default the newest.")]
Start = Annotated[int, Query(ge=0, description="The number of the first difference to return.")]
Limit = Annotated[int | None, Query(ge=0, description="The most differences to return.")]
Format = Annotated[
    Literal["json", "ndjson", "csv", "arrow", "parquet"] | None,
    Query(description="The format of the differences, whatever Accept says."),
]


@router.post("", status_code=201)
async def create_replacement(request: Request, new: NewReplacement, response: Response) -> ReplacementModel:
    """Build views under new queries beside the old ones, which stay as they are until it is applied."""
    principal = principal_of(request)
    principal.require_defining_all()
    runtime, name = runtime_of(request), fold_name(new.name)
    session = ScriptSession(path_of(new.search_path))
    names = CallerScope(*door_of(request).parts, caller_of(request), session).names()
    queries = [NewQuery(fold_relation(view.name), view.sql, new.dialect) for view in new.views]
    made = await runtime.create_replacement(name, queries, readable_by(principal), names=names)
    response.headers["Location"] = f"/v1/replacements/{name}"
    return _model(runtime, made)


@router.get("")
async def list_replacements(request: Request) -> ReplacementList:
    """List the replacements, the oldest first."""
    principal_of(request).require_defining_all()
    runtime = runtime_of(request)
    return ReplacementList(replacements=[_model(runtime, it) for it in runtime.replacements.all.values()])


@router.get("/{replacement}")
async def describe_replacement(request: Request, replacement: str) -> ReplacementModel:
    """Describe a replacement: how far it is, what it concerns, and what that holds."""
    principal_of(request).require_defining_all()
    runtime = runtime_of(request)
    return _model(runtime, runtime.replacements.get(fold_name(replacement)))


@router.delete("/{replacement}", status_code=204)
async def drop_replacement(request: Request, replacement: str) -> None:
    """Drop a replacement. The views stay as they are."""
    principal_of(request).require_defining_all()
    await runtime_of(request).replacements.drop(fold_name(replacement))


@router.post("/{replacement}/apply")
async def apply_replacement(request: Request, replacement: str) -> AppliedReplacement:
    """Let the views go on under their new queries: one epoch, whose changes are the differences."""
    principal_of(request).require_defining_all()
    name = fold_name(replacement)
    return AppliedReplacement(replacement=name, epoch=await runtime_of(request).replacements.apply(name))


@router.get(
    "/{replacement}/preview",
    response_class=Response,
    responses=answered_as(*OFFERED, model=ReplacementPreview),
)
async def preview_replacement(
    request: Request,
    replacement: str,
    view: View = None,
    as_of: AsOf = None,
    start: Start = 0,
    limit: Limit = None,
    format: Format = None,
) -> Response:
    """The rows that a view would have more, or less. Pages of one epoch fit together: `as_of` names it."""
    principal_of(request).require_defining_all()
    runtime, lanes, name = runtime_of(request), lanes_of(request), fold_name(replacement)
    relation = None if view is None else fold_relation(view)
    media_type = media_type_for(request, format, OFFERED)
    most = runtime.settings.page_rows_most
    if media_type == JSON and (limit or 0) > most:
        raise Invalid(
            f"limit is {limit}, more than {most}",
            "use another format, which has no limit",
            code="limit_too_large",
        )
    found = await runtime.replacements.compare(name, relation, as_of)
    headers = {"Freshet-Epoch": str(found.epoch)}
    if media_type != JSON:
        stream = STREAMS[media_type]
        reading = Reading(found.whole, found.epoch, *found.rows, texts=found.texts)
        stop = reading.size if limit is None else min(start + limit, reading.size)
        pieces = await lanes.reads.run(stream.checked, reading, runtime.dictionary, min(start, stop), stop)
        return StreamingResponse(lanes.reads.each(pieces), headers=headers, media_type=stream.media_type)
    stop = start + (runtime.settings.page_rows if limit is None else limit)
    head = {"replacement": name, "view": relation or runtime.replacements.get(name).record.queries[0].view}
    document = await lanes.reads.run(_document, head, found, start, stop, runtime.dictionary)
    return Response(document, headers=headers, media_type=JSON)


def _document(
    head: dict[str, str], found: Difference, start: int, stop: int, dictionary: Dictionary
) -> bytes:
    """The differences from `start` to `stop` as JSON."""
    rows = json_rows(np.ascontiguousarray(found.words[:, start:stop]), found.schema, dictionary)
    counts = found.counts[start:stop].tolist()
    whole = len(found.counts)
    told = {"epoch": found.epoch, "rows": whole, "next": stop if stop < whole else None}
    differences = [{"diff": diff, "row": row} for diff, row in zip(counts, rows, strict=True)]
    return orjson.dumps({**head, **told, "differences": differences})


def _model(runtime: Runtime, it: Replacement) -> ReplacementModel:
    state, reason = runtime.replacements.state_of(it)
    queries = {query.view: query.sql for query in it.record.queries}
    upkeep = runtime.upkeep()
    planned = it.planned
    if planned is None:
        views = [ReplacedViewModel(name=n, sql=sql, changes=True, bytes=None) for n, sql in queries.items()]
    else:
        views = [
            ReplacedViewModel(
                name=view.name,
                sql=queries.get(view.name),
                changes=view.hidden is not None,
                bytes=None if view.hidden is None else _held(upkeep.get(view.hidden)),
            )
            for view in planned.views
        ]
    return ReplacementModel(
        name=it.name, state=state, reason=reason, created=moment(it.record.created_at), views=views
    )


def _held(upkeep: Upkeep | None) -> int | None:
    return None if upkeep is None else upkeep.memory + upkeep.mapped
