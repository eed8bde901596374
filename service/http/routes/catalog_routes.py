"""The catalog: all tables and views with their states, once or as a feed; and what each of them costs."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from service.decoding.parsing import JSON
from service.http.access import feeds_of, lanes_of, principal_of, runtime_of
from service.http.catalog_feed import CatalogFeed, visible
from service.http.media_schemas import answered_as
from service.http.negotiation import EVENTS, media_type_for
from service.http.routes.strict import StrictRoute
from service.running.relation_costs import RelationFigures, relation_figures

router = APIRouter(route_class=StrictRoute, prefix="/v1/catalog", tags=["operations"])
_OFFERED = (JSON, EVENTS)


class CatalogEntryModel(BaseModel):
    """A table or a view, its state, and the relations that a view names."""

    name: str
    kind: Literal["table", "view"]
    state: Literal["ready", "building", "errors", "failed"]
    reason: str | None
    reads: list[str]


class CatalogList(BaseModel):
    """All tables and views, by name."""

    relations: list[CatalogEntryModel]


class RelationCost(BaseModel):
    """What a table or view costs and holds. Counters begin when the service starts."""

    name: str
    kind: Literal["table", "view"]
    rows: int = Field(description="Rows at the newest epoch, copies included.")
    behind: int = Field(description="Epochs that it does not have yet.")
    memory_bytes: int = Field(description="Memory of its history and operators.")
    mapped_bytes: int = Field(description="Bytes of mapped files of its history and operators.")
    seconds: float = Field(description="Time that its operators have taken.")
    differences: int = Field(description="Differences that its operators have made.")
    changes: int = Field(description="Differences of its own rows.")


class RelationCosts(BaseModel):
    """What each table and view costs. Operators that views share count for each of them."""

    relations: list[RelationCost]


@router.get("", response_model=CatalogList, responses=answered_as(*_OFFERED, model=CatalogList))
async def read_catalog(
    request: Request,
    format: Annotated[
        Literal["json", "sse"] | None, Query(description="The format, whatever Accept says.")
    ] = None,
) -> Response:
    """All tables and views with their states: once, or as server-sent events that go on with each that is
    made, altered or dropped, or whose state changes."""
    runtime_of(request)
    watch, principal = request.app.state.catalog_watch, principal_of(request)
    lane = lanes_of(request).figures
    if media_type_for(request, format, _OFFERED) == EVENTS:
        return feeds_of(request).of(CatalogFeed(watch, principal, lane))
    look = await lane.run(watch.look)
    return JSONResponse({"relations": visible(look.entries, principal)})


@router.get("/costs")
async def list_costs(request: Request) -> RelationCosts:
    """What each table and view costs: memory, files, time and differences."""
    runtime = runtime_of(request)
    principal_of(request).require_reading_all(runtime.definitions())
    found = await lanes_of(request).figures.run(relation_figures, runtime)
    return RelationCosts(relations=[_cost(figures) for figures in found])


def _cost(figures: RelationFigures) -> RelationCost:
    upkeep = figures.upkeep
    return RelationCost(
        name=figures.name,
        kind="view" if figures.kind == "view" else "table",
        rows=figures.rows,
        behind=figures.behind,
        memory_bytes=upkeep.memory,
        mapped_bytes=upkeep.mapped,
        seconds=upkeep.nanoseconds / 1e9,
        differences=upkeep.rows,
        changes=upkeep.changes,
    )
