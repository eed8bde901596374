"""`freshet translate`: a query of any dialect in DuckDB's SQL, and what changes meaning."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of
from freshet.command.reporting import report
from freshet.command.script_text import script_text
from freshet.command.terminal_text import say
from freshet.contract.operation_descriptions import TranslationDescription
from freshet.errors import Error

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def translate(
    dialect: Annotated[str, typer.Argument(help="The dialect of the query.", show_default=False)],
    file: Annotated[
        Path | None, typer.Argument(help="A file with the query; - is standard input.", show_default=False)
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", "-c", help="The query.", show_default=False)
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Show what a query of any dialect means.

    Standard output has the query in DuckDB's SQL, behind the statements that it needs. Standard error has a
    note for each part that would mean something else as it is written.
    """
    if file is not None and command is not None:
        raise typer.BadParameter("pass a file or -c, not both", param_hint="FILE")
    query = command if command is not None else script_text(file)
    with connection_of(url, key, certificate) as connection:
        try:
            found = connection.translate(query, dialect=dialect)
        except Error as error:
            raise typer.Exit(report(error, query)) from None
    say(";\n".join([*found.before, found.sql]) + ";")
    for line in notes(found):
        print(line, file=sys.stderr)


def notes(found: TranslationDescription) -> list[str]:
    """A line for each note, behind one that says if nobody has proven the dialect."""
    unproven = [f"the dialect {found.dialect} is read, but not proven"] if found.standing == "read" else []
    return unproven + [
        f"{_place(note['line'], note['column'])}{note['written']} is {note['read']}: {note['why']}"
        for note in found.notes
    ]


def _place(line: int | None, column: int | None) -> str:
    return "" if line is None else f"line {line}, column {column}: "
