"""`freshet load`: a file of this machine as one epoch, or a load that the service carries out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of
from freshet.command.following_jobs import finish
from freshet.command.terminal_text import say
from freshet.connection import Connection
from freshet.contract import calls
from freshet.values.row_bodies import ARROW, NDJSON

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
_TYPES = {
    ".csv": "text/csv",
    ".ndjson": NDJSON,
    ".jsonl": NDJSON,
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": ARROW,
    ".arrows": ARROW,
}
"""The content types of files by their suffixes."""
_SPARK = {
    ".csv": "csv",
    ".ndjson": "json",
    ".jsonl": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".orc": "orc",
}


@app.command()
def load(
    table: Annotated[str, typer.Argument(help="The table that gets the rows.")],
    file: Annotated[
        str, typer.Argument(help="The file, or with --remote a path or address of the service's.")
    ],
    remote: Annotated[
        bool, typer.Option("--remote", help="The service reads the file itself, with Spark, however large.")
    ] = False,
    type: Annotated[
        Literal["csv", "ndjson", "json", "parquet", "arrow", "orc"] | None,
        typer.Option(help="What the file is, if its name does not say it.", show_default=False),
    ] = None,
    bad_rows: Annotated[
        Literal["fail", "skip"], typer.Option(help="With --remote: what becomes of rows that do not fit.")
    ] = "fail",
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            help="A name of this load: a second one of this name changes nothing.", show_default=False
        ),
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Load a file into a table.

    All rows become one epoch, or none of them does. A row is an insert, unless the file says otherwise:
    NDJSON and JSON have changes such as `{"insert": {...}}`, the others may have a column `_op`.

    A file of this machine is sent in one request. For a large one, use `--remote`: the service reads it from
    a place that `FRESHET_LOAD_ROOTS` allows, and the command shows how far it is. Ctrl-C cancels it.
    """
    suffix = f".{type}" if type else Path(file).suffix.lower()
    names = _SPARK if remote else _TYPES
    if suffix not in names:
        raise typer.BadParameter(f"the name tells no type: {', '.join(names)} are known", param_hint="--type")
    if remote and idempotency_key is not None:
        raise typer.BadParameter("it is for files of this machine", param_hint="--idempotency-key")
    if not remote and bad_rows != "fail":
        raise typer.BadParameter("it needs --remote", param_hint="--bad-rows")
    with connection_of(url, key, certificate) as connection:
        if remote:
            _load_there(connection, table, _SPARK[suffix], file, bad_rows)
        else:
            _send(connection, table, Path(file), _TYPES[suffix], idempotency_key)


def _send(connection: Connection, table: str, file: Path, content_type: str, key: str | None) -> None:
    try:
        body = file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="FILE") from None
    began = time.monotonic()
    with Console(stderr=True).status(f"sending {len(body) / 2**20:,.1f} MB"):
        done = connection.run(calls.change(table, (content_type, body), key))
    say(f"{done.changes:,} changes in epoch {done.epoch}, {time.monotonic() - began:.1f} s")


def _load_there(connection: Connection, table: str, format: str, path: str, bad_rows: str) -> None:
    options = {"header": "true"} if format == "csv" else {}
    job = connection.begin_load(table, format, path, bad_rows=bad_rows, options=options)
    done = finish(job, connection.load, connection.cancel_load)
    skipped = f", {done.skipped:,} skipped" if done.skipped else ""
    say(f"{done.rows or 0:,} rows in epoch {done.epoch}{skipped}")
