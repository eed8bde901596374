"""What the routes about reasons answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class OriginModel(BaseModel):
    """The request that made an epoch: its idempotency key, or the load, the source, or the branch of which it
    was a merge."""

    idempotency_key: str | None = None
    load: str | None = None
    source: str | None = None
    merged: str | None = None


class MovedModel(BaseModel):
    """The row became `diff` more at an epoch. `changes` are those of tables that did it, or, if no row that
    the view's row follows from has changed, all of the tables that the view reads. `by` says which request it
    was, where that is known and the caller may change these tables."""

    epoch: int
    committed_at: datetime | None
    diff: int
    by: OriginModel | None = None
    changes: dict[str, list[dict[str, Any]]]


class WhyNot(BaseModel):
    """Why there is no row with these values."""

    view: str
    epoch: int
    row: dict[str, Any]
    because: dict[str, Any] = Field(description="What fails: `rule`, with a `row` and causes in `of`.")
    missing: dict[str, list[dict[str, Any]]] = Field(
        description="Rows that tables lack, with the values that are known of them."
    )


class RoundRow(BaseModel):
    """`diff` copies of a row came, or went, in a round."""

    round: int
    diff: int
    row: dict[str, Any]


class RoundCount(BaseModel):
    """How many rows came and went in a round."""

    round: int
    came: int
    went: int


class RecursionRounds(BaseModel):
    """The rounds of a recursion, in their order. `rows` are the first ones up to the limit."""

    view: str
    epoch: int
    name: str
    rounds: list[RoundCount]
    rows: list[RoundRow]


class WhyChanged(BaseModel):
    """How a row has changed, oldest epoch first."""

    view: str
    row: dict[str, Any]
    epochs: list[MovedModel] = Field(description="The newest twenty epochs that have changed the row.")
