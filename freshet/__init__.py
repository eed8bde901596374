"""Freshet's client: `connect` and `connect_async` reach tables, views and SQL of a service.

A name is imported when it is first used: the command line, which lies in this package, needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freshet.async_connection import AsyncConnection, AsyncTable, AsyncView
    from freshet.connecting import connect, connect_async
    from freshet.connection import Connection, Table, View
    from freshet.contract.branch_calls import BranchDescription, MergeDescription
    from freshet.contract.changefeed import Change, Epoch
    from freshet.contract.descriptions import (
        Acknowledgement,
        ColumnDescription,
        TableDescription,
        ViewDescription,
    )
    from freshet.contract.operation_descriptions import (
        AuditDescription,
        ExportDescription,
        KeyDescription,
        LoadDescription,
        MadeKey,
        RoleDescription,
        SinkDescription,
        SourceDescription,
    )
    from freshet.contract.plan import Plan
    from freshet.contract.replacement_calls import ReplacementDescription
    from freshet.errors import (
        ConflictError,
        Error,
        HistoryGoneError,
        InvalidRequestError,
        NotFoundError,
        OverloadedError,
        UnauthorizedError,
        UnavailableError,
        UnexpectedAnswerError,
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
    "AuditDescription",
    "BranchDescription",
    "Change",
    "ColumnDescription",
    "ConflictError",
    "Connection",
    "Epoch",
    "Error",
    "ExportDescription",
    "Feed",
    "HistoryGoneError",
    "InvalidRequestError",
    "KeyDescription",
    "LoadDescription",
    "MadeKey",
    "MergeDescription",
    "NotFoundError",
    "OverloadedError",
    "Plan",
    "ReplacementDescription",
    "RoleDescription",
    "Rows",
    "SinkDescription",
    "SourceDescription",
    "SqlRows",
    "Table",
    "TableDescription",
    "UnauthorizedError",
    "UnavailableError",
    "UnexpectedAnswerError",
    "UnreachableError",
    "View",
    "ViewDescription",
    "connect",
    "connect_async",
]

_MODULES = {
    "freshet.async_connection": "AsyncConnection AsyncTable AsyncView",
    "freshet.connecting": "connect connect_async",
    "freshet.connection": "Connection Table View",
    "freshet.contract.branch_calls": "BranchDescription MergeDescription",
    "freshet.contract.changefeed": "Change Epoch",
    "freshet.contract.descriptions": "Acknowledgement ColumnDescription TableDescription ViewDescription",
    "freshet.contract.operation_descriptions": (
        "AuditDescription ExportDescription KeyDescription LoadDescription MadeKey RoleDescription "
        "SinkDescription SourceDescription"
    ),
    "freshet.contract.plan": "Plan",
    "freshet.contract.replacement_calls": "ReplacementDescription",
    "freshet.errors": (
        "ConflictError Error HistoryGoneError InvalidRequestError NotFoundError OverloadedError "
        "UnauthorizedError UnavailableError UnexpectedAnswerError UnreachableError"
    ),
    "freshet.sending.following": "AsyncFeed Feed",
    "freshet.values.rows": "Rows SqlRows",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name of the package, at its first use."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
