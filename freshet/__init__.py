"""Freshet's client: `connect` gives tables, views and SQL of a service."""

from freshet.connecting import connect
from freshet.connection import Connection, Table, View
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
from freshet.values.rows import Rows, SqlRows

__all__ = [
    "Acknowledgement",
    "ColumnDescription",
    "ConflictError",
    "Connection",
    "Error",
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
]
