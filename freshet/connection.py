"""The blocking connection, with the tables and views that it reaches.

Each method makes a call (`freshet/contract/calls.py`) and waits for its result. Several threads may use a
connection at a time.
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

from freshet.contract import calls
from freshet.contract.api_call import ApiCall
from freshet.contract.branch_calls import on_branch
from freshet.contract.changefeed import Change
from freshet.contract.descriptions import Acknowledgement, TableDescription, ViewDescription
from freshet.contract.gathering_changes import GatheredChanges
from freshet.contract.plan import Plan
from freshet.errors import Error, UnreachableError
from freshet.live import Live, Shown
from freshet.operations import Operations
from freshet.sending.following import Feed, FeedSource
from freshet.sending.retrying import ApiOutcome, Retries, conversation
from freshet.sending.senders import Sender
from freshet.values import row_bodies
from freshet.values.html_tables import SHOWN
from freshet.values.rows import Rows, SqlRows
from freshet.values.sql_parameters import Parameters

T = TypeVar("T")
AsOf = int | str | datetime
ValidAt = str | datetime
"""An epoch, an aware time, or one as RFC 3339 writes it."""


class Connection(Operations):
    """A service, as `connect` finds it. Leaving it as a context manager closes it."""

    def __init__(self, sender: Sender, retries: Retries, branch: str | None = None) -> None:
        self._sender = sender
        self.retries = retries
        self._branch = branch

    def on_branch(self, name: str) -> Connection:
        """The same connection for a branch: rows are read and changed there, and SQL runs there."""
        return Connection(self._sender, self.retries, name)

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, and an embedded service with it."""
        self._sender.close()

    def run(self, call: ApiCall[T]) -> T:
        """Sends a call, again if that is safe and may help, and returns its result."""
        call = on_branch(call, self._branch)
        steps = conversation(call, self.retries)
        pause = next(steps)
        while True:
            time.sleep(pause)
            try:
                pause = steps.send(self._outcome(call))
            except StopIteration as end:
                return end.value

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        """Sends a call once, and returns the body of its answer as it comes."""
        return self._sender.stream(on_branch(call, self._branch))

    def _outcome(self, call: ApiCall[T]) -> ApiOutcome:
        try:
            return self._sender.send(call)
        except UnreachableError as error:
            return error

    def status(self) -> dict[str, Any]:
        """What the service says of itself."""
        return self.run(calls.status())

    def tables(self) -> list[TableDescription]:
        """All tables, by name."""
        return self.run(calls.tables())

    def views(self) -> list[ViewDescription]:
        """All views, by name."""
        return self.run(calls.views())

    def table(self, name: str) -> Table:
        """The table of this name, whether or not it exists yet. Names are written as in SQL."""
        return Table(self, name)

    def view(self, name: str) -> View:
        """The view of this name, whether or not it exists yet."""
        return View(self, name)

    def create_view(
        self,
        name: str,
        sql: str,
        *,
        dialect: str = calls.DIALECT,
        or_replace: bool = False,
        budget: Mapping[str, float] | None = None,
    ) -> View:
        """Creates a view of a query, and returns it once it can be read. A `budget` has the most
        `memory_bytes`, `build_seconds` and `change_milliseconds` that it may cost."""
        self.run(calls.create_view(name, sql, dialect, or_replace, budget))
        return self.view(name)

    def estimate_view(
        self,
        name: str,
        sql: str,
        *,
        dialect: str = calls.DIALECT,
        budget: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """What a view of a query would cost. Nothing is made."""
        return self.run(calls.estimate_view(name, sql, dialect, budget))

    def create_assertion(
        self, name: str, sql: str, *, warns: bool = False, dialect: str = calls.DIALECT
    ) -> View:
        """Creates an assertion, and returns the view of the rows that break it: the rows of the query, of
        which there are to be none. An epoch that would make one is refused; or, if the assertion only warns,
        the view has it."""
        self.run(calls.create_assertion(name, sql, dialect, "warn" if warns else "refuse"))
        return self.view(name)

    def sql(self, sql: str, parameters: Parameters | None = None, *, dialect: str = calls.DIALECT) -> SqlRows:
        """Runs SQL, and returns the result of its last statement. `$1` stands for the first of a list of
        parameters, `:name` for one of a dict."""
        return self.run(calls.statement(sql, parameters, dialect))

    def script(
        self, sql: str, parameters: Parameters | None = None, *, dialect: str = calls.DIALECT
    ) -> list[SqlRows]:
        """The same, with the results of all statements."""
        return self.run(calls.script(sql, parameters, dialect))

    @contextmanager
    def changing(self, *, idempotency_key: str | None = None) -> Iterator[GatheredChanges]:
        """Gathers changes of several tables, and applies them as one epoch at the end of the block.

        Nothing is applied if the block raises.
        """
        gathered = GatheredChanges()
        yield gathered
        described = {name: self.run(calls.table(name)) for name in gathered.described}
        bodies = gathered.bodies(described.get)
        if bodies:
            gathered.epoch = self.run(calls.change_several(bodies, idempotency_key)).epoch


class _Relation:
    """What tables and views have in common. `kind` is their place in the REST contract."""

    kind = ""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def drop(self) -> None:
        """Drops it, with its history."""
        self._connection.run(calls.drop(self.kind, self.name))

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        try:
            rows = self._rows(None, None, None, SHOWN + 1)
        except Error as error:
            return f"<pre>{html.escape(f'{self.name}: {error}')}</pre>"
        return Shown(self.name, rows)._repr_html_()

    def _rows(self, *wishes: Any) -> Rows:
        return self._connection.run(calls.rows(self.kind, self.name, *wishes))

    def _changes(self, since: int, until: int | None, skip_errors: bool = False) -> list[Change]:
        columns = self._connection.run(calls.columns(self.kind, self.name))
        return self._connection.run(calls.changes(self.kind, self.name, since, until, columns, skip_errors))

    def _follow(self, since: int | None, skip_errors: bool = False) -> Feed:
        return Feed(self._connection, FeedSource(self.kind, self.name, skip_errors), since)


class Table(_Relation):
    kind = calls.TABLES

    def create(self, columns: object, primary_key: Sequence[str] = ()) -> Table:
        """Creates the table. `columns` are SQL (`"id BIGINT PRIMARY KEY, name TEXT"`), types by names
        (`{"id": "BIGINT NOT NULL"}`), an Arrow schema, or a table of PyArrow, pandas or Polars."""
        self._connection.run(calls.create_table(self.name, columns, primary_key))
        return self

    def describe(self) -> TableDescription:
        return self._connection.run(calls.table(self.name))

    def insert(self, rows: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        """Inserts rows: mappings, dataclasses, or a table of PyArrow, pandas or Polars. One epoch, all or
        nothing. A call with the key of an earlier one gets the earlier one's result."""
        return self._change(row_bodies.body_of("insert", rows), idempotency_key)

    def upsert(self, rows: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        """Inserts rows, or replaces those of the same primary key."""
        return self._change(row_bodies.body_of("upsert", rows), idempotency_key)

    def delete(self, rows: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        """Deletes rows. With a primary key, its columns are enough."""
        return self._change(row_bodies.body_of("delete", rows), idempotency_key)

    def apply(self, changes: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        """Applies changes that name their operations: `{"upsert": {...}}`, or a table with a column
        `_op`."""
        return self._change(row_bodies.body_of_changes(changes), idempotency_key)

    def _change(self, body: tuple[str, bytes], idempotency_key: str | None) -> Acknowledgement:
        return self._connection.run(calls.change(self.name, body, idempotency_key))

    def rows(
        self,
        *,
        as_of: AsOf | None = None,
        valid_at: ValidAt | None = None,
        where: str | None = None,
        order_by: str | None = None,
        limit: int | None = None,
    ) -> Rows:
        """The rows, at the newest epoch or as of another. `where` and `order_by` are SQL. `valid_at` chooses
        those that hold at a valid time, without their periods."""
        return self._rows(as_of, where, order_by, limit, valid_at)

    def changes(self, since: int = 0, until: int | None = None) -> list[Change]:
        """The changes after epoch `since`, up to the newest epoch or `until`, in their order."""
        return self._changes(since, until)

    def follow(self, since: int | None = None) -> Feed:
        """The epochs with changes after `since`, or from now on, as they come. Runs until it is closed."""
        return self._follow(since)

    def live(self, *, order_by: str | None = None, limit: int = SHOWN) -> Live:
        """Shows the first rows in a notebook's cell, and updates it as they change."""
        return Live(self, order_by, limit)


class View(_Relation):
    kind = calls.VIEWS

    def describe(self) -> ViewDescription:
        return self._connection.run(calls.view(self.name))

    def rebuild(self) -> None:
        """Builds a view that has failed again."""
        self._connection.run(calls.rebuild(self.name))

    def plan(self, stage: str = "optimized") -> Plan:
        """How the view is computed: `logical`, `optimized`, `dataflow`, `supersteps` or `analyze`."""
        text, picture = (
            self._connection.run(calls.plan_text(self.name, stage, format)) for format in ("text", "mermaid")
        )
        return Plan(stage, text, picture)

    def why(self, as_of: AsOf | None = None, **row: object) -> dict[str, Any]:
        """Why the view has a row: `because` is the reason, `facts` are rows that it refers to by number, and
        `tables` has the rows of tables from which it follows. Columns that are left out may have any
        value."""
        return self._connection.run(calls.why(self.name, row, as_of))

    def why_not(self, as_of: AsOf | None = None, **row: object) -> dict[str, Any]:
        """Why the view has no row with these values: `because` is what fails, and `missing` has the rows that
        tables lack."""
        return self._connection.run(calls.why_not(self.name, row, as_of))

    def rounds(self, name: str | None = None, as_of: AsOf | None = None) -> dict[str, Any]:
        """The rounds of a recursion of the view: `rows`, each with the round in which it came or went, and
        how many of them each of the `rounds` has. A view with one recursive name may leave it out."""
        return self._connection.run(calls.rounds(self.name, name, as_of))

    def why_changed(self, **row: object) -> list[dict[str, Any]]:
        """The epochs in which a row came or went, with the changes of tables that did it."""
        return self._connection.run(calls.why_changed(self.name, row))

    def rows(
        self,
        *,
        as_of: AsOf | None = None,
        valid_at: ValidAt | None = None,
        where: str | None = None,
        order_by: str | None = None,
        limit: int | None = None,
        skip_errors: bool = False,
    ) -> Rows:
        """The rows, at the newest epoch or as of another. `where` and `order_by` are SQL. `valid_at` chooses
        those that hold at a valid time, without their periods; `skip_errors` reads a view some of whose rows
        fail."""
        return self._rows(as_of, where, order_by, limit, valid_at, skip_errors)

    def changes(self, since: int = 0, until: int | None = None, *, skip_errors: bool = False) -> list[Change]:
        """The changes after epoch `since`, up to the newest epoch or `until`, in their order."""
        return self._changes(since, until, skip_errors)

    def follow(self, since: int | None = None, *, skip_errors: bool = False) -> Feed:
        """The epochs with changes after `since`, or from now on, as they come. Runs until it is closed."""
        return self._follow(since, skip_errors)

    def live(self, *, order_by: str | None = None, limit: int = SHOWN) -> Live:
        """Shows the first rows in a notebook's cell, and updates it as they change."""
        return Live(self, order_by, limit)
