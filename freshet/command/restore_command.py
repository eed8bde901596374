"""`freshet restore`: a service of a backup, in an empty place."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="The directory of the backup.")],
    data: Annotated[
        Path | None, typer.Option(help="The data directory; FRESHET_DATA without it.", show_default=False)
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(
            help="The database of the catalog; FRESHET_DATABASE_URL without it.", show_default=False
        ),
    ] = None,
) -> None:
    """Make a service of a backup.

    The place has to be empty. Every file is compared with its hash first. The catalog may be of another kind
    than the backup's: SQLite in the data directory, or PostgreSQL.
    """
    import_module("service.process.backup_commands").restore(backup.absolute(), data, database_url)
