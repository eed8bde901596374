"""`freshet check`: views against new computations of them, while the service goes on."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of
from freshet.command.reporting import REFUSED, report
from freshet.command.terminal_text import harmless, say
from freshet.connection import Connection
from freshet.contract.operation_descriptions import CheckDescription
from freshet.errors import Error

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def check(
    views: Annotated[
        list[str] | None, typer.Argument(help="The views; all without any.", show_default=False)
    ] = None,
    by: Annotated[
        Literal["rebuild", "duckdb"],
        typer.Option(
            help="Who computes anew: the engine, from the tables, or DuckDB, where it can run the query."
        ),
    ] = "rebuild",
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Compare views with new computations.

    Each view is computed again from its tables, as of one epoch and beside the service, and compared row by
    row. The exit code is 1 if a view differs or cannot be checked.
    """
    is_good = True
    with connection_of(url, key, certificate) as connection:
        for name in views or [view.sql_name for view in connection.views()]:
            is_good &= _check(connection, name, by)
    raise typer.Exit(0 if is_good else REFUSED)


def _check(connection: Connection, name: str, by: str) -> bool:
    """Checks one view and prints what came of it. Returns whether the view is right."""
    try:
        found = connection.check_view(name, by)
    except Error as error:
        report(error)
        return False
    say(_sentence(found))
    for row in found.rows:
        print(harmless(f"  {json.dumps(row['row'])}: {row['maintained']} kept, {row['recomputed']} computed"))
    for failed in found.errors:
        print(
            harmless(f"  {failed['message']}: {failed['maintained']} kept, {failed['recomputed']} computed")
        )
    return found.equal


def _sentence(found: CheckDescription) -> str:
    differing = "1 row differs" if found.differing == 1 else f"{found.differing:,} rows differ"
    rows = "1 row" if found.size == 1 else f"{found.size:,} rows"
    outcome = "right" if found.equal else f"wrong: {differing}"
    return harmless(f"{found.view}: {rows} at epoch {found.epoch}, {outcome}")
