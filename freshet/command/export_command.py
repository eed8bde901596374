"""`freshet export`: rows into a file of this machine, or an export that the service carries out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import DownloadColumn, Progress, SpinnerColumn, TimeElapsedColumn, TransferSpeedColumn

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of, relation_of
from freshet.command.following_jobs import finish
from freshet.command.terminal_text import say
from freshet.connection import Connection, Table, View
from freshet.contract import calls

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
_FORMATS = {
    ".csv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".parquet": "parquet",
}
"""The formats of files by their suffixes."""


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="The view or the table.")],
    file: Annotated[str, typer.Argument(help="The file to write; - is standard output.")],
    remote: Annotated[
        bool, typer.Option("--remote", help="The service writes a directory of files itself, with Spark.")
    ] = False,
    type: Annotated[
        Literal["csv", "ndjson", "arrow", "parquet"] | None,
        typer.Option(help="What to write, if the file's name does not say it.", show_default=False),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(help="The epoch or the time whose rows are written.", show_default=False)
    ] = None,
    where: Annotated[
        str | None, typer.Option(help="A condition in SQL that rows have to meet.", show_default=False)
    ] = None,
    order_by: Annotated[str | None, typer.Option(help="Sort keys in SQL.", show_default=False)] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Write rows to a file.

    All rows are from one epoch: the newest, or the one of `--as-of`. The file appears when it is whole.

    With `--remote`, the service writes a directory at a place that `FRESHET_LOAD_ROOTS` allows, and the
    command shows how far it is. Ctrl-C cancels it.
    """
    suffix = f".{type}" if type else Path(file).suffix.lower()
    if suffix not in _FORMATS:
        raise typer.BadParameter(f"{', '.join(_FORMATS)} are known", param_hint="--type")
    if remote and (where or order_by):
        raise typer.BadParameter("they are for files of this machine", param_hint="--where and --order-by")
    if not (remote or overwrite or file == "-") and Path(file).exists():
        raise typer.BadParameter(f"{file} exists: choose another, or pass --overwrite", param_hint="FILE")
    with connection_of(url, key, certificate) as connection:
        relation = relation_of(connection, name)
        if remote:
            _export_there(connection, relation, _FORMATS[suffix], file, as_of, overwrite)
            return
        call = calls.stream_rows(relation.kind, name, _FORMATS[suffix], as_of, where, order_by)
        pieces = connection.stream(call)
        if file == "-":
            for piece in pieces:
                sys.stdout.buffer.write(piece)
        else:
            _write(pieces, Path(file))


def _write(pieces: Iterator[bytes], file: Path) -> None:
    """Writes the file beside its place, and moves it there when it is whole."""
    new = file.with_name(f".{file.name}.part")
    columns = (SpinnerColumn(), DownloadColumn(), TransferSpeedColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    showing = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    try:
        with new.open("wb") as sink, showing as progress:
            bar = progress.add_task(str(file), total=None)
            for piece in pieces:
                sink.write(piece)
                progress.advance(bar, len(piece))
        size = new.stat().st_size
        os.replace(new, file)
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error.strerror}", param_hint="FILE") from None
    finally:
        new.unlink(missing_ok=True)
    print(f"{size:,} bytes in {file}", file=sys.stderr)


def _export_there(
    connection: Connection, relation: Table | View, format: str, path: str, as_of: str | None, overwrite: bool
) -> None:
    if format == "arrow":
        raise typer.BadParameter("Spark writes csv, ndjson and parquet", param_hint="--type")
    spark = "json" if format == "ndjson" else format
    mode = "overwrite" if overwrite else "errorifexists"
    options = {"header": "true"} if format == "csv" else {}
    job = connection.begin_export(relation, spark, path, as_of=as_of, mode=mode, options=options)
    done = finish(job, connection.export, connection.cancel_export)
    say(f"{done.rows or 0:,} rows of epoch {done.epoch} in {path}")
