"""Freshet's client: `connect` and `connect_async` reach tables, views and SQL of a service."""

from freshet.async_connection import AsyncConnection, AsyncTable, AsyncView
from freshet.connecting import connect, connect_async
from freshet.connection import Connection, Table, View
from freshet.contract.changefeed import Change, Epoch
from freshet.contract.descriptions import (
    Acknowledgement,
    ColumnDescription,
    TableDescription,
    ViewDescription,
)
from freshet.contract.plan import Plan
from freshet.errors import (
    ConflictError,
    Error,
    HistoryGoneError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
)
from freshet.sending.following import AsyncFeed, Feed
from freshet.values.rows import Rows, SqlRows

__all__ = [
    "Acknowledgement",
    "AsyncConnection",
    "AsyncFeed",
    "AsyncTable",
    "AsyncView",
    "Change",
    "ColumnDescription",
    "ConflictError",
    "Connection",
    "Epoch",
    "Error",
    "Feed",
    "HistoryGoneError",
    "InvalidRequestError",
    "NotFoundError",
    "OverloadedError",
    "Plan",
    "Rows",
    "SqlRows",
    "Table",
    "TableDescription",
    "UnauthorizedError",
    "UnavailableError",
    "UnreachableError",
    "View",
    "ViewDescription",
    "connect",
    "connect_async",
]
