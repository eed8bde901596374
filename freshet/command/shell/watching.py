"""`\\watch`: a view's rows on the screen, with what has just come in green and what has just gone in red.

The rows that changed last stand first. A view of more rows than `KEPT` is shown in part: rows that are not
held are passed over when they go.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from freshet.command.printing import cell
from freshet.command.terminal_text import harmless
from freshet.connection import Connection, View
from freshet.connection import Table as FreshetTable
from freshet.contract import calls
from freshet.contract.changefeed import Epoch
from freshet.sending.following import Feed, FeedSource

KEPT = 1000
_FRAME = 6
"""Lines of the screen that are not rows."""


class WatchedRows:
    """Rows by their JSON, so that they can be found, with how often each is there."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], epoch: int) -> None:
        self.columns = columns
        self.epoch = epoch
        self.counts: dict[str, int] = {}
        self.came: set[str] = set()
        self.gone: list[str] = []
        for row in rows:
            text = json.dumps(row)
            self.counts[text] = self.counts.get(text, 0) + 1

    def apply(self, epoch: Epoch) -> None:
        """Takes in the changes of an epoch. What came and went before is no longer marked."""
        self.epoch = epoch.number
        self.came, self.gone = set(), []
        newest: dict[str, int] = {}
        for change in epoch:
            row = json.dumps([change.row.get(name) for name in self.columns])
            known = row in self.counts or row in newest
            count = self.counts.pop(row, newest.pop(row, 0)) + change.diff
            if count > 0 and (known or change.diff > 0):
                newest[row] = count
                if change.diff > 0:
                    self.came.add(row)
            elif known and change.diff < 0:
                self.gone.append(row)
        self.counts = dict(list({**newest, **self.counts}.items())[:KEPT])

    def table(self, title: str, lines: int) -> Group:
        """The first rows that fit so many lines; those that have gone stand first, struck through."""
        table = Table(title=Text(f"{title} at epoch {self.epoch}", "bold"), title_justify="left")
        for name in self.columns:
            table.add_column(Text(harmless(name)), overflow="fold")
        marked = [(row, "red strike", 1) for row in self.gone]
        marked += [(row, "green" if row in self.came else "", count) for row, count in self.counts.items()]
        for row, style, count in marked[:lines]:
            cells = [cell(value) for value in json.loads(row)]
            if count > 1:
                cells[0].append(f" ({count} times)", "dim")
            table.add_row(*cells, style=style)
        moved = f"{len(self.came)} came, {len(self.gone)} went"
        return Group(table, Text(f"{sum(self.counts.values()):,} rows, {moved}; Ctrl-C ends", "dim"))


def watched(connection: Connection, name: str) -> WatchedRows:
    """The rows of a view or a table as they are now."""
    (result,) = connection.run(calls.script_document(f"SELECT * FROM {name} LIMIT {KEPT}", calls.DIALECT))
    return WatchedRows([column["name"] for column in result["columns"]], result["rows"], result["epoch"])


def watch(connection: Connection, relation: FreshetTable | View, console: Console) -> None:
    """Shows the rows until Ctrl-C."""
    rows = watched(connection, relation.name)
    lines = max(3, console.height - _FRAME)
    source = FeedSource(relation.kind, relation.name, as_sent=True)
    with (
        Feed(connection, source, rows.epoch) as feed,
        Live(rows.table(relation.name, lines), console=console, screen=console.is_terminal) as live,
    ):
        try:
            for epoch in feed:
                rows.apply(epoch)
                live.update(rows.table(relation.name, max(3, console.height - _FRAME)), refresh=True)
        except KeyboardInterrupt:
            return
