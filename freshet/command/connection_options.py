"""The options that the commands share, and the connection that they describe."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Annotated, Literal

import typer

from freshet.connecting import URL, connect
from freshet.connection import Connection, Table, View
from freshet.contract import calls
from freshet.errors import NotFoundError

_PANEL = "Connection"
RETRIES = 3
"""A person waits: a service that is not there is told within a second."""

Url = Annotated[
    str,
    typer.Option("--url", envvar="FRESHET_URL", help="The address of the service.", rich_help_panel=_PANEL),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        envvar="FRESHET_KEY",
        help="The key to send. Others on the machine can see it in the list of processes: use the variable.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        envvar="FRESHET_CERTIFICATE",
        help="A PEM file with the authority that signed the service's certificate.",
        exists=True,
        dir_okay=False,
        rich_help_panel=_PANEL,
    ),
]
OutputFormat = Literal["table", "ndjson", "csv", "json"]
Format = Annotated[
    OutputFormat | None,
    typer.Option("--format", help="How rows are printed. A terminal gets a table, a pipe NDJSON."),
]
DEFAULT_URL = URL


def connection_of(url: str, key: str | None, certificate: Path | None, retries: int = RETRIES) -> Connection:
    """The connection that the options describe. Nothing is sent yet."""
    key = key.strip() if key else None
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise typer.BadParameter("it has characters that no key has", param_hint="--key")
    verify: ssl.SSLContext | bool = True
    if certificate is not None:
        try:
            verify = ssl.create_default_context(cafile=certificate)
        except ssl.SSLError:
            raise typer.BadParameter(
                "the file has no certificates in PEM", param_hint="--certificate"
            ) from None
    return connect(url, key, verify=verify, retries=retries)


def relation_of(connection: Connection, name: str) -> Table | View:
    """The view or the table of this name. Raises the error of the service if there is neither."""
    view = connection.view(name)
    try:
        connection.run(calls.columns(view.kind, name))
    except NotFoundError as no_view:
        try:
            connection.run(calls.columns(calls.TABLES, name))
        except NotFoundError as no_table:
            message = f"there is no table or view called {name}"
            raise NotFoundError(message, no_view.hint or no_table.hint, code=no_table.code) from None
        return connection.table(name)
    return view
