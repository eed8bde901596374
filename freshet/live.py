"""A live cell: a notebook's output that shows a view's rows and follows its changes."""

from __future__ import annotations

import threading
import time
from importlib import import_module
from typing import Any, Protocol

from freshet.errors import Error
from freshet.sending.following import Feed
from freshet.values.html_tables import SHOWN, html_table
from freshet.values.rows import Rows

PAUSE = 0.1
"""Seconds between two updates at least: nobody reads faster."""


class Followed(Protocol):
    """What a live cell shows: a table or a view."""

    name: str

    def rows(self, *, order_by: str | None = None, limit: int | None = None) -> Rows: ...

    def follow(self, since: int | None = None) -> Feed: ...


class Live:
    """Updates its cell in a thread, until `stop` or the end of the program."""

    def __init__(self, relation: Followed, order_by: str | None, limit: int) -> None:
        self._relation = relation
        self._order_by = order_by
        self._limit = limit
        rows = self._read()
        self._handle = _display()(Shown(relation.name, rows, limit), display_id=True)
        self._feed = relation.follow(rows.epoch)
        self._epoch = rows.epoch
        self._thread = threading.Thread(target=self._follow, name=f"live {relation.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Leaves the cell as it is."""
        self._feed.close()

    def _read(self) -> Rows:
        return self._relation.rows(order_by=self._order_by, limit=self._limit + 1)

    def _follow(self) -> None:
        try:
            for epoch in self._feed:
                if epoch.number > self._epoch:
                    rows = self._read()  # it may be epochs ahead of the feed
                    self._epoch = rows.epoch
                    self._handle.update(Shown(self._relation.name, rows, self._limit))
                    time.sleep(PAUSE)
        except Error as error:
            self._handle.update(Stopped(self._relation.name, error))


class Shown:
    """The first rows of a relation. `rows` has one more than are shown, if there are more."""

    def __init__(self, name: str, rows: Rows, limit: int = SHOWN) -> None:
        self._name = name
        self._rows = rows
        self._limit = limit

    def _repr_html_(self) -> str:
        return html_table(self._rows.columns, self._rows.tuples()[: self._limit], repr(self))

    def __repr__(self) -> str:
        first = f"the first {self._limit:,} rows" if len(self._rows) > self._limit else self._rows.size
        return f"{self._name}: {first} at epoch {self._rows.epoch}"


class Stopped:
    """What a live cell shows when its relation can no longer be followed."""

    def __init__(self, name: str, error: Error) -> None:
        self._text = f"{name} is no longer followed: {error}"

    def __repr__(self) -> str:
        return self._text


def _display() -> Any:
    """IPython's function that shows what can be updated."""
    try:
        return import_module("IPython.display").display
    except ImportError:
        raise Error(
            "a live cell needs a notebook", "in a program, iterate over follow()", code="missing_library"
        ) from None
