"""Branches: make, list, describe and drop them; how their answers differ, and merging."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import numpy as np
import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from engine.state.dictionary import Dictionary
from service.accounts.privileges import Privilege
from service.decoding.parsing import JSON
from service.errors import Invalid
from service.http.access import lanes_of, principal_of, runtime_of
from service.http.media_schemas import answered_as
from service.http.models import moment
from service.http.negotiation import media_type_for
from service.http.routes.row_routes import epoch_of
from service.http.routes.strict import StrictRoute
from service.names import fold_name, fold_relation
from service.reading.row_formats import OFFERED, STREAMS, json_rows
from service.reading.row_readings import Reading
from service.running.branches.branch_diff import Difference
from service.running.branches.branch_merging import ConflictChoice
from service.running.branches.branch_timeline import BranchTimeline
from service.running.branches.open_branches import MAIN_NAME

router = APIRouter(route_class=StrictRoute, prefix="/v1/branches", tags=["branches"])


class NewBranch(BaseModel):
    """`of` is the branch that it parts from, by default main, and `as_of` the epoch, or an RFC 3339 time. A
    `live` branch follows it from there."""

    model_config = ConfigDict(extra="forbid")

    name: str
    of: str = MAIN_NAME
    as_of: int | str | None = None
    live: bool = False


class MergeWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    on_conflict: ConflictChoice = Field(
        default=ConflictChoice.FAIL,
        description="Where both have changed a row: `fail` merges nothing, `ours` leaves the parent's row, "
        "`theirs` takes the branch's.",
    )


class LeftOutView(BaseModel):
    """A view of the branch that was not made on its parent, and why."""

    view: str
    reason: str


class MergeResult(BaseModel):
    """`epoch` of the parent has the changes; `conflicts` is the number of rows that both had changed. `views`
    of the branch's own were made on the parent too, but for those that were `left_out`. `late` counts rows
    of the branch that came too late for a watermark of the parent, if there are any."""

    branch: str
    into: str
    epoch: int
    changes: int
    conflicts: int
    views: list[str]
    left_out: list[LeftOutView]
    late: int | None = Field(default=None, exclude_if=lambda late: late is None)


class BranchModel(BaseModel):
    """A branch of `of`, from which it has parted at epoch `parted`. Its own epochs begin with `begins`;
    `epoch` is the newest. It holds `bytes` besides what it shares. `merged` are the epochs of its parent that
    have its changes. A `live` one `follows` its parent up to that epoch, and `waits` says why it does not go
    on, if it does not. `late` counts the rows that came too late for a watermark on it, its own and its
    parent's, since the service started. `lost` says why it could not be restored."""

    name: str
    of: str
    parted: int
    begins: int
    epoch: int | None
    bytes: int | None
    created: datetime
    merged: list[int]
    live: bool = False
    follows: int | None = None
    waits: str | None = None
    late: int = 0
    lost: str | None = None


class BranchList(BaseModel):
    branches: list[BranchModel]


class RowDifference(BaseModel):
    """`diff` more copies of the row, or fewer if it is negative."""

    diff: int
    row: dict[str, object]


class Differences(BaseModel):
    """What a relation has more, or less, in `to` than in `from`; `rows` is the number of all differences."""

    model_config = ConfigDict(populate_by_name=True)

    relation: str
    source: str = Field(alias="from")
    to: str
    rows: int
    differences: list[RowDifference]


Relation = Annotated[str, Query(description="The view or table to compare.")]
Against = Annotated[str, Query(description="The branch with which it is compared; by default main.")]
Limit = Annotated[int | None, Query(ge=0, description="The most differences to return.")]
Format = Annotated[
    Literal["json", "ndjson", "csv", "arrow", "parquet"] | None,
    Query(description="The format of the differences, whatever Accept says."),
]


@router.post("", status_code=201)
async def create_branch(request: Request, new: NewBranch, response: Response) -> BranchModel:
    """Make a branch: all tables and views as they are, or were, to be changed and read by itself."""
    principal_of(request).require_defining_all()
    runtime = runtime_of(request)
    name, parent = fold_name(new.name), fold_name(new.of)
    epoch = None
    if new.as_of is not None:
        timeline = runtime.branches.timeline(parent)
        epoch = await epoch_of(timeline, str(new.as_of), timeline.readable.newest)
    branch = await runtime.branches.create(name, parent, epoch, live=new.live)
    response.headers["Location"] = f"/v1/branches/{name}"
    return _model(branch)


@router.get("")
async def list_branches(request: Request) -> BranchList:
    """List the branches, the oldest first."""
    branches = runtime_of(request).branches
    models = [_model(branch) for branch in branches.all.values()]
    for record, reason in branches.lost.values():
        models.append(
            BranchModel(
                name=record.name,
                of=MAIN_NAME,
                parted=record.epoch,
                begins=record.beginning,
                epoch=None,
                bytes=None,
                created=moment(record.created_at),
                merged=[],
                live=bool(record.live),
                lost=reason,
            )
        )
    return BranchList(branches=models)


@router.get("/{branch}")
async def describe_branch(request: Request, branch: str) -> BranchModel:
    """Describe a branch."""
    return _model(runtime_of(request).branches.get(fold_name(branch)))


@router.delete("/{branch}", status_code=204)
async def drop_branch(request: Request, branch: str) -> None:
    """Drop a branch, with all changes that were made on it alone."""
    principal_of(request).require_defining_all()
    await runtime_of(request).branches.drop(fold_name(branch))


@router.post("/{branch}/merge")
async def merge_branch(request: Request, branch: str, merging: MergeWish) -> MergeResult:
    """Make the branch's changes one epoch of its parent. 409 names the rows that both have changed."""
    principal_of(request).require_defining_all()
    branches, name = runtime_of(request).branches, fold_name(branch)
    into = branches.get(name).parent.name or MAIN_NAME
    merged, views = await branches.merge(name, merging.on_conflict)
    return MergeResult(
        branch=name,
        into=into,
        epoch=merged.applied.epoch,
        changes=merged.applied.changes,
        conflicts=merged.conflicts,
        views=list(views.made),
        left_out=[LeftOutView(view=it.view, reason=it.reason) for it in views.left_out],
        late=merged.applied.late or None,
    )


@router.get("/{branch}/diff", response_class=Response, responses=answered_as(*OFFERED, model=Differences))
async def branch_diff(
    request: Request,
    branch: str,
    view: Relation,
    against: Against = MAIN_NAME,
    limit: Limit = None,
    format: Format = None,
) -> Response:
    """The rows that a view has more, or less, on the branch. Costs the difference, whatever the view has."""
    relation = fold_relation(view)
    principal_of(request).require(Privilege.SELECT, relation)
    runtime, lanes = runtime_of(request), lanes_of(request)
    before, after = fold_name(against), fold_name(branch)
    runtime.branches.get(after)
    media_type = media_type_for(request, format, OFFERED)
    if media_type == JSON and (limit or 0) > runtime.settings.page_rows_most:
        raise Invalid(
            f"limit is {limit}, more than {runtime.settings.page_rows_most}",
            "use another format, which has no limit",
            code="limit_too_large",
        )
    found = await lanes.reads.run(runtime.branches.difference, relation, before, after)
    headers = {"Freshet-Epoch": str(found.epoch)}
    if media_type != JSON:
        stream = STREAMS[media_type]
        reading = Reading(found.whole, found.epoch, *found.rows, texts=found.texts)
        stop = reading.size if limit is None else min(limit, reading.size)
        pieces = await lanes.reads.run(stream.checked, reading, runtime.dictionary, 0, stop)
        return StreamingResponse(lanes.reads.each(pieces), headers=headers, media_type=stream.media_type)
    head = {"relation": relation, "from": before, "to": after, "rows": len(found.counts)}
    stop = runtime.settings.page_rows if limit is None else limit
    document = await lanes.reads.run(_document, head, found, stop, runtime.dictionary)
    return Response(document, headers=headers, media_type=JSON)


def _document(head: dict[str, object], found: Difference, stop: int, dictionary: Dictionary) -> bytes:
    """The first `stop` differences as JSON."""
    rows = json_rows(np.ascontiguousarray(found.words[:, :stop]), found.schema, dictionary)
    differences = [{"diff": diff, "row": row} for diff, row in zip(found.counts.tolist(), rows, strict=False)]
    return orjson.dumps({**head, "differences": differences})


def _model(branch: BranchTimeline) -> BranchModel:
    record = branch.record
    return BranchModel(
        name=record.name,
        of=branch.parent.name or MAIN_NAME,
        parted=record.epoch,
        begins=record.beginning,
        epoch=branch.readable.newest,
        bytes=branch.departed,
        created=moment(record.created_at),
        merged=[merged.into for merged in branch.merges],
        live=branch.following is not None,
        follows=branch.follows,
        waits=None if branch.following is None else branch.following.waits,
        late=branch.metrics.late_rows.total,
    )
