"""Epochs: when each was committed, and what it changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from service.accounts.privileges import Privilege
from service.http.access import lanes_of, principal_of, timeline_of
from service.http.branch_parameter import OnBranch
from service.http.models import moment
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.reading.epoch_listing import EpochRange, ListedEpoch, epochs_of, every_epoch, timed

router = APIRouter(route_class=StrictRoute, prefix="/v1/epochs", tags=["changes"])
USUAL, MOST = 100, 10_000


class EpochModel(BaseModel):
    """An epoch, the time of its commit, and the number of differences that each relation has from it."""

    epoch: int
    committed_at: datetime | None = Field(description="Null if the time is no longer kept.")
    tables: dict[str, int]
    views: dict[str, int]


class EpochList(BaseModel):
    """Epochs, the newest first. `newest` is the newest of all; `next` is null, or the `until` of those before
    these."""

    newest: int
    epochs: list[EpochModel]
    next: int | None


@router.get("")
async def list_epochs(
    request: Request,
    since: Annotated[int, Query(ge=0, description="Epochs after this one.")] = 0,
    until: Annotated[int | None, Query(ge=0, description="Up to this epoch; by default the newest.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST, description="The most epochs, the newest of them.")] = USUAL,
    relation: Annotated[
        str | None, Query(description="Only the epochs in which this table or view has changed.")
    ] = None,
    branch: OnBranch = None,
) -> EpochList:
    """List epochs, the newest first, with the times of their commits and what they changed."""
    timeline, principal, lane = timeline_of(request, branch), principal_of(request), lanes_of(request).reads
    readable = timeline.readable
    last = readable.newest if until is None else min(until, readable.newest)
    wanted = EpochRange(max(since, timeline.beginning), last, limit)
    if relation is None:
        seen = [it for it in readable.known.all.values() if principal.may(Privilege.SELECT, it.name)]
        found = await lane.run(every_epoch, readable.snapshot, seen, wanted)
    else:
        name = fold_relation(relation)
        principal.require(Privilege.SELECT, name)
        found = await lane.run(epochs_of, readable.snapshot, readable.definition(name), wanted)
    if found:
        times = await timeline.times_between(found[-1].epoch, found[0].epoch)
        found = timed(found, times)
    rest = found[-1].epoch - 1 if len(found) == limit else 0
    shown = [_model(it) for it in found]
    return EpochList(newest=readable.newest, epochs=shown, next=rest if rest > wanted.since else None)


def _model(epoch: ListedEpoch) -> EpochModel:
    return EpochModel(
        epoch=epoch.epoch,
        committed_at=moment(epoch.at),
        tables=dict(epoch.tables),
        views=dict(epoch.views),
    )
