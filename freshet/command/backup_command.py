"""`freshet backup`: all that a service stores, as of one epoch, whether it runs or not."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from freshet.command.connection_options import Certificate, Key, connection_of
from freshet.command.following_jobs import finish
from freshet.command.terminal_text import say

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def backup(
    directory: Annotated[Path, typer.Argument(help="The directory to be made.")],
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            envvar="FRESHET_URL",
            help="The address of the service. Without one, the service of the data directory is meant.",
            rich_help_panel="Connection",
        ),
    ] = None,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Write a backup of a service.

    A running service writes it itself, without a pause, in a place that `FRESHET_LOAD_ROOTS` allows; it asks
    for the key of an admin. If no service runs over the data directory (`FRESHET_DATA`), the command writes
    the backup from there. `freshet restore` makes a service of it.
    """
    path, epoch = directory.absolute(), None
    if url is None:
        stopped = import_module("service.process.backup_commands")  # it takes seconds to load
        epoch = stopped.back_up(path)
        url = stopped.address()
    if epoch is None:
        with connection_of(url, key, certificate) as connection:
            begun = connection.begin_backup(str(path))
            epoch = finish(begun, connection.backup, connection.cancel_backup).epoch
    say(f"the backup {path} holds epoch {epoch}")
