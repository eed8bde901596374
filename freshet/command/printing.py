"""Rows on standard output: a table for people; NDJSON, CSV or JSON for programs.

Values are those of the REST contract (JSON), so every format says them exactly.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from freshet.command.connection_options import OutputFormat
from freshet.command.terminal_text import harmless, json_line
from freshet.errors import InvalidRequestError

SHOWN = 1000
"""The most rows of a table on a terminal."""
_NUMBERS = ("SMALLINT", "INTEGER", "BIGINT", "NUMERIC", "REAL", "DOUBLE")
Row = Sequence[Any]
Columns = Sequence[tuple[str, str]]
"""The names of columns, and their SQL types."""


def chosen(format: OutputFormat | None) -> OutputFormat:
    """The format, or what standard output is for."""
    return format or ("table" if sys.stdout.isatty() else "ndjson")


def print_rows(
    columns: Columns, rows: Iterable[Row], format: OutputFormat, stream: TextIO | None = None
) -> None:
    """Writes rows to `stream`, or to standard output."""
    stream = stream or sys.stdout
    if format == "table":
        console = Console(file=stream)
        console.print(row_table(columns, rows), highlight=False)
    elif format == "csv":
        tame = stream.isatty()
        stream.write(csv_line([name for name, _ in columns], tame))
        stream.writelines(csv_line(documents(columns, row), tame) for row in rows)
    else:
        _check_names([name for name, _ in columns])
        objects = ({name: value for (name, _), value in zip(columns, row, strict=True)} for row in rows)
        _write_objects(objects, format, stream)


def print_objects(objects: Sequence[Mapping[str, Any]], format: OutputFormat) -> None:
    """The same for objects that all have the same members."""
    columns = [(name, "") for name in objects[0]] if objects else []
    print_rows(columns, [list(found.values()) for found in objects], format)


def row_table(columns: Columns, rows: Iterable[Row], title: str | None = None) -> Group:
    """The first rows as a table; a line below tells that there are more."""
    table = Table(title=None if title is None else Text(harmless(title)), title_justify="left")
    for name, type in columns:
        table.add_column(
            Text(harmless(name)), justify="right" if type.startswith(_NUMBERS) else "left", overflow="fold"
        )
    count = 0
    for row in rows:
        count += 1
        if count <= SHOWN:
            table.add_row(*map(cell, row))
    shown = f", the first {SHOWN:,} are shown" if count > SHOWN else ""
    return Group(table, Text(f"{count:,} row{'' if count == 1 else 's'}{shown}", "dim"))


def record_table(columns: Columns, row: Row) -> Table:
    """One row, a column a line."""
    table = Table(show_header=False)
    for (name, _), value in zip(columns, row, strict=True):
        table.add_row(Text(harmless(name), "bold"), cell(value))
    return table


def cell(value: Any) -> Text:
    """A value for people. A NULL is not the text NULL: it is dim."""
    return Text("NULL", "dim") if value is None else Text(shown_text(value))


def shown_text(value: Any) -> str:
    """A value as text."""
    return harmless(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def csv_line(row: Row, tame: bool = False) -> str:
    """A line of CSV as the service writes it: NULL is an empty field, and an empty text is in quotes.

    A `tame` one is for a terminal, which no field may command."""
    fields = map(_field, row)
    return ",".join(map(harmless, fields) if tame else fields) + "\r\n"


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json_text(value)
    if text == "" or any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def json_text(value: Any) -> str:
    """A value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def documents(columns: Columns, row: Row) -> list[Any]:
    """The row with its documents as JSON texts; otherwise a text in one could not be told from them."""
    return [
        json_text(value) if value is not None and (type == "JSON" or type.endswith("[]")) else value
        for (_, type), value in zip(columns, row, strict=True)
    ]


def _write_objects(objects: Iterable[Mapping[str, Any]], format: OutputFormat, stream: TextIO) -> None:
    if format == "json":
        stream.write(json_line(list(objects)))
        return
    stream.writelines(map(json_line, objects))


def _check_names(names: Sequence[str]) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidRequestError(
                f"the result has two columns called {name}, which an object cannot have",
                "name them with AS, or use --format csv",
                code="duplicate_column",
            )
