"""How the OpenAPI document describes the bodies of each media type, and the shapes of rows and changes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from service.decoding.parsing import ARROW, CSV, JSON, NDJSON, PARQUET
from service.http.models import ColumnModel
from service.http.negotiation import EVENTS

_BINARY = {"type": "string", "format": "binary"}
SCHEMAS: dict[str, dict[str, Any]] = {
    NDJSON: {"type": "string", "description": "A JSON object a line."},
    CSV: {"type": "string", "description": "A header, then a line for each row (RFC 4180). NULL is empty."},
    ARROW: _BINARY | {"description": "An Arrow IPC stream."},
    PARQUET: _BINARY | {"description": "A Parquet file."},
    EVENTS: {
        "description": "Server-sent events, each with an `event`, its `data`, and an `id` if it can resume."
    },
    "text/plain": {"type": "string"},
    JSON: {"type": "object", "description": "A JSON document."},
}
"""The schemas of media types whose content is not described by a model."""

Row = dict[str, Any]
"""The values of a row, by column."""


class RowPage(BaseModel):
    """Rows at `epoch`. `next` is the cursor of the next page, null on the last one."""

    epoch: int
    columns: list[ColumnModel]
    rows: list[Row]
    next: str | None


class ViewRows(RowPage):
    view: str


class TableRows(RowPage):
    table: str


class RowChange(BaseModel):
    """`diff` copies of the row were added at `epoch`, or removed if it is negative."""

    epoch: int
    diff: int
    row: Row


class ChangeListing(BaseModel):
    """Changes in the order of epochs. The pages lead up to `epoch`; `next` is null on the last one."""

    epoch: int
    changes: list[RowChange]
    next: str | None


class ViewChanges(ChangeListing):
    view: str


class TableChangeList(ChangeListing):
    table: str


class ChangesMade(BaseModel):
    """The number of changes that were made, and the epoch at which all views show them; `late` counts rows
    that were left out because they came too late, if there are any."""

    epoch: int
    changes: int
    late: int | None = None


class StateOfService(BaseModel):
    status: str = Field(examples=["ok"])


def answered_as(*media_types: str, model: type[BaseModel] | None = None) -> dict[int | str, dict[str, Any]]:
    """A successful answer in any of these media types; `model` is its shape in JSON."""
    content: dict[str, Any] = {media: {"schema": SCHEMAS[media]} for media in media_types}
    if model is not None:
        content[JSON] = {}  # FastAPI puts in the model's schema
    answer: dict[str, Any] = {"description": "Successful Response", "content": content}
    return {200: answer | ({} if model is None else {"model": model})}
