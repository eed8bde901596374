"""dbt's connections over Freshet's client.

All threads of dbt share one client, because an embedded service exists once in a process. There are no
transactions that last: each statement is durable when it returns, so dbt's own BEGIN and COMMIT do nothing.
A script with BEGIN and COMMIT inside one call is one epoch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.freshet.credentials import FreshetCredentials
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

import freshet

_TRANSACTION = re.compile(r"\s*(/\*.*?\*/)?\s*(begin|commit|rollback)\s*;?\s*", re.IGNORECASE | re.DOTALL)
_FULL_REFRESH = "or run dbt with --full-refresh --select model+, which drops what reads it and makes it again"


class FreshetError(DbtDatabaseError):
    """An error of the service. `code` is one of docs/errors.md."""

    def __init__(self, error: freshet.Error) -> None:
        hint = f"\n{_FULL_REFRESH}" if error.code == "in_use" else ""
        super().__init__(f"{error} [{error.code}]{hint}")
        self.reason = error.code


class FreshetCursor:
    """A statement's result, in the words of Python's database API."""

    def __init__(self, connection: freshet.Connection) -> None:
        self._connection = connection
        self._rows: list[tuple[Any, ...]] = []
        self.description: list[tuple[Any, ...]] | None = None
        self.response = AdapterResponse("OK")

    def execute(self, sql: str, bindings: object = None) -> None:
        """Runs a script. The result is its last statement's."""
        if bindings:
            raise DbtRuntimeError("Freshet's adapter takes no bindings: write the values as literals")
        if _TRANSACTION.fullmatch(sql):
            return
        result = self._connection.sql(sql)
        self._rows = result.tuples()
        columns = result.columns
        self.description = [(name, type, None, None, None, None, None) for name, type in columns.items()]
        count = len(self._rows) if columns else result.count
        message = result.statement if count is None else f"{result.statement} {count}"
        self.response = AdapterResponse(message, result.statement, count)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.fetchmany(len(self._rows))

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        taken, self._rows = self._rows[:size], self._rows[size:]
        return taken

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(iter(self.fetchmany(1)), None)


class FreshetHandle:
    """What dbt holds as a connection."""

    def __init__(self, client: freshet.Connection) -> None:
        self.client = client

    def cursor(self) -> FreshetCursor:
        return FreshetCursor(self.client)

    def rollback(self) -> None:
        """A statement that has failed has left nothing."""

    def close(self) -> None:
        """The client stays, for the other threads."""


_clients: dict[tuple[Any, ...], freshet.Connection] = {}
_lock = Lock()


def client_of(credentials: FreshetCredentials) -> freshet.Connection:
    """The process's one client of a target."""
    c = credentials
    where = (c.url, c.key, c.timeout, c.embedded, c.data)
    with _lock:
        if where not in _clients:
            if c.embedded:
                _clients[where] = freshet.connect(embedded=True, data=c.data)
            else:
                _clients[where] = freshet.connect(c.url, c.key, timeout=c.timeout)
        return _clients[where]


class FreshetConnectionManager(SQLConnectionManager):
    TYPE = "freshet"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        try:
            connection.handle = FreshetHandle(client_of(connection.credentials))
        except freshet.Error as error:
            connection.state = ConnectionState.FAIL
            raise FreshetError(error) from error
        connection.state = ConnectionState.OPEN
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except freshet.Error as error:
            raise FreshetError(error) from error

    def cancel(self, connection: Connection) -> None:
        """A statement that has begun runs to its end."""

    @classmethod
    def get_response(cls, cursor: FreshetCursor) -> AdapterResponse:
        return cursor.response

    @classmethod
    def data_type_code_to_name(cls, type_code: int | str) -> str:
        return str(type_code)

    def add_begin_query(self, *args: Any, **kwargs: Any) -> Any:
        return None

    def add_commit_query(self, *args: Any, **kwargs: Any) -> Any:
        return None
