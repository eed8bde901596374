"""`freshet tail`: a view's or a table's changes, an epoch at a time, from where the last run stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of, relation_of
from freshet.command.printing import Columns, chosen, csv_line, documents, shown_text
from freshet.command.terminal_text import harmless, json_line
from freshet.contract import calls
from freshet.contract.changefeed import Epoch
from freshet.sending.following import Feed, FeedSource

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
_RETRIES = 100
"""A feed outlives a service that is started again: it is tried for about eight minutes."""
TailFormat = Literal["table", "ndjson", "csv"]
Show = Callable[[Epoch], None]


@app.command()
def tail(
    name: Annotated[str, typer.Argument(help="The view or the table.")],
    since: Annotated[
        int | None, typer.Option(help="Begin after this epoch; 0 is the beginning.", show_default=False)
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="A file that keeps the last epoch: the next run goes on there.", show_default=False
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs.", show_default=False)
    ] = None,
    format: Annotated[
        TailFormat | None, typer.Option(help="A terminal gets coloured lines, a pipe NDJSON.")
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Print changes as they come.

    A change is a row that came (`diff` above 0) or went (below 0). Without `--since` the changes from now on
    are printed. If the connection is lost, it is made again, and nothing comes twice.

    With `--state FILE`, the file has the last epoch that was printed as a whole. A later run with the same
    file goes on there. The file is written after an epoch is printed: if the process is killed between the
    two, that one epoch is printed again.
    """
    with connection_of(url, key, certificate, _RETRIES) as connection:
        relation = relation_of(connection, name)
        start = since if since is not None else _kept(state)
        columns = connection.run(calls.columns(relation.kind, name))
        show = _PRINTERS[chosen(format)]([(column.name, column.type) for column in columns])
        source = FeedSource(relation.kind, name, as_sent=True)
        with Feed(connection, source, start) as feed:
            if state is not None:
                _keep(state, feed.since)
            for count, epoch in enumerate(feed, 1):
                show(epoch)
                sys.stdout.flush()
                if state is not None:
                    _keep(state, epoch.number)
                if count == epochs:
                    return


def _kept(state: Path | None) -> int | None:
    """The epoch in a file; None if there is no file yet."""
    if state is None or not state.exists():
        return None
    try:
        return int(state.read_text())
    except (OSError, ValueError):
        raise typer.BadParameter(f"{state} does not have an epoch", param_hint="--state") from None


def _keep(state: Path, epoch: int) -> None:
    """Writes the epoch so that the file always has one."""
    new = state.with_name(f"{state.name}.new")
    try:
        new.write_text(f"{epoch}\n")
        os.replace(new, state)
    except OSError as error:
        raise typer.BadParameter(
            f"{state} cannot be written: {error.strerror}", param_hint="--state"
        ) from None


def _lines(columns: Columns) -> Show:
    """For people: an epoch's number, and a line for each change."""
    console = Console(soft_wrap=True, highlight=False)

    def show(epoch: Epoch) -> None:
        console.print(Text(f"epoch {epoch.number}", "bold"))
        for change in epoch:
            style, sign = ("green", "+") if change.diff > 0 else ("red", "-")
            times = "" if abs(change.diff) == 1 else f" {abs(change.diff)} times"
            row = ", ".join(f"{harmless(name)}={shown_text(value)}" for name, value in change.row.items())
            console.print(Text(f"  {sign} {row}{times}", style))

    return show


def _ndjson(columns: Columns) -> Show:
    def show(epoch: Epoch) -> None:
        for change in epoch:
            document = {"epoch": change.epoch, "diff": change.diff, "row": change.row}
            sys.stdout.write(json_line(document))

    return show


def _csv(columns: Columns) -> Show:
    """Columns `epoch` and `diff`, then those of the row."""
    tame = sys.stdout.isatty()
    sys.stdout.write(csv_line(["epoch", "diff", *(name for name, _ in columns)], tame))

    def show(epoch: Epoch) -> None:
        for change in epoch:
            row = documents(columns, [change.row.get(name) for name, _ in columns])
            sys.stdout.write(csv_line([change.epoch, change.diff, *row], tame))

    return show


_PRINTERS: dict[str, Callable[[Columns], Show]] = {"table": _lines, "ndjson": _ndjson, "csv": _csv}
