"""What an admin looks at: the settings in force, the open feeds, the slowest statements."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from service.http.access import door_of, feeds_of, runtime_of
from service.http.models import moment
from service.http.routes.strict import StrictRoute
from service.settings.shown_settings import shown_settings

router = APIRouter(route_class=StrictRoute, prefix="/v1", tags=["operations"])
_MICROSECONDS = 1_000_000


class SettingModel(BaseModel):
    """A setting. `value` is `(set)` for one that can hold a password."""

    variable: str
    value: str
    default: str
    meaning: str


class SettingList(BaseModel):
    """The settings in force."""

    settings: list[SettingModel]


class OpenFeedModel(BaseModel):
    """An open event stream: of a relation's changes, or of the catalog if `relation` is null."""

    relation: str | None
    epoch: int = Field(description="The last epoch that it has sent or seen.")
    behind: int = Field(description="Epochs that are newer.")
    key: str = Field(description="The id of the key that follows it; empty without keys.")
    opened: datetime


class FeedList(BaseModel):
    """The open feeds, the oldest first; `most` is FRESHET_FEEDS."""

    most: int
    feeds: list[OpenFeedModel]


class SlowStatementModel(BaseModel):
    """A statement of `POST /v1/sql`, and how long it took."""

    text: str
    seconds: float
    began: datetime
    key: str = Field(description="The id of the key that sent it; empty without keys.")
    request: str = Field(description="The id of the request, as in the log.")
    error: str = Field(description="How it failed; empty if it did not.")


class SlowStatementList(BaseModel):
    """The slowest statements since the service started, the slowest first."""

    statements: list[SlowStatementModel]


@router.get("/settings")
async def list_settings(request: Request) -> SettingList:
    """List the settings in force. Those that can hold a password are concealed."""
    shown = shown_settings(runtime_of(request).settings)
    return SettingList(settings=[SettingModel(**asdict(setting)) for setting in shown])


@router.get("/feeds")
async def list_feeds(request: Request) -> FeedList:
    """List the open event streams: what each follows, and how far behind it is."""
    runtime = runtime_of(request)
    newest = runtime.readable.newest
    feeds = [
        OpenFeedModel(
            relation=it.feed.follows,
            epoch=it.feed.since,
            behind=max(0, newest - it.feed.since),
            key=it.feed.principal.id,
            opened=_at(it.opened),
        )
        for it in feeds_of(request).all
    ]
    return FeedList(most=runtime.settings.feeds, feeds=feeds)


@router.get("/statements")
async def list_slow_statements(request: Request) -> SlowStatementList:
    """List the slowest statements since the service started."""
    found = door_of(request).slow.all
    return SlowStatementList(
        statements=[SlowStatementModel(**asdict(it) | {"began": _at(it.began)}) for it in found]
    )


def _at(seconds: float) -> datetime:
    return moment(int(seconds * _MICROSECONDS))
