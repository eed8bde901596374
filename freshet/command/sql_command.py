"""`freshet sql`: a script from an option, a file or standard input; on a terminal without one, a shell."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from freshet.command.connection_options import (
    DEFAULT_URL,
    Certificate,
    Format,
    Key,
    OutputFormat,
    Url,
    connection_of,
)
from freshet.command.printing import chosen, print_rows
from freshet.command.reporting import report
from freshet.command.script_text import script_text
from freshet.command.terminal_text import say
from freshet.connection import Connection
from freshet.contract import calls
from freshet.errors import Error

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def sql(
    file: Annotated[
        Path | None, typer.Argument(help="A script to run; - is standard input.", show_default=False)
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", "-c", help="SQL to run.", show_default=False)
    ] = None,
    dialect: Annotated[str, typer.Option(help="The dialect of the SQL.")] = calls.DIALECT,
    as_of: Annotated[
        str | None, typer.Option(help="The epoch or the time that queries read.", show_default=False)
    ] = None,
    format: Format = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Run SQL, or open a shell for it.

    Statements run one after another, up to the first that fails; its place is shown. In a pipe, standard
    output has the rows alone.

    - `freshet sql -c "SELECT count(*) FROM orders"` runs SQL.
    - `freshet sql setup.sql` runs a file, and `freshet sql < setup.sql` standard input.
    - `freshet sql` on a terminal opens the shell: `\\?` in it shows its commands.
    """
    if file is not None and command is not None:
        raise typer.BadParameter("pass a file or -c, not both", param_hint="FILE")
    with connection_of(url, key, certificate) as connection:
        if file is None and command is None and sys.stdin.isatty():
            shell = import_module("freshet.command.shell.shell")  # prompt_toolkit takes a while to load
            raise typer.Exit(shell.converse(connection, dialect, as_of))
        script = command if command is not None else script_text(file)
        if script.lstrip().startswith("\\"):
            raise typer.BadParameter(
                "commands with a backslash are the shell's: call freshet sql alone, on a terminal",
                param_hint="SQL",
            )
        raise typer.Exit(run_script(connection, script, dialect, as_of, chosen(format)))


def run_script(
    connection: Connection, script: str, dialect: str, as_of: str | None, format: OutputFormat
) -> int:
    """Runs a script, prints its results, and returns the exit code."""
    try:
        for result in connection.run(calls.script_document(script, dialect, as_of)):
            if result.get("columns") is not None:
                columns = [(column["name"], column["type"]) for column in result["columns"]]
                print_rows(columns, result["rows"], format)
            elif format == "table":
                say(summary(result["statement"], result.get("count"), result["epoch"]))
    except Error as error:
        return report(error, script)
    return 0


def summary(statement: str, count: int | None, epoch: int) -> str:
    """What a statement without rows did."""
    return f"{statement}{'' if count is None else f' {count}'} (epoch {epoch})"
