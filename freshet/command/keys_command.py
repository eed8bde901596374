"""`freshet keys`: keys in the data directory while no service runs, or of the service at `--url`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from freshet.command.connection_options import Certificate, Key, connection_of
from freshet.command.printing import chosen, print_objects
from freshet.command.terminal_text import harmless
from freshet.connection import Connection

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", no_args_is_help=True)

_Address = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="FRESHET_URL",
        help="The address of the service. Without one, the keys of the data directory are meant.",
        rich_help_panel="Connection",
    ),
]
_ONCE = "This is the only time that it is shown."


@app.callback()
def keys() -> None:
    """Make, list, rotate and revoke keys.

    Without `--url`, the commands work on the data directory (`FRESHET_DATA`), while no service runs over it.
    With `--url`, they ask the service there, which needs the key of an admin.
    """


def _directory() -> Any:
    """The functions for the data directory. They take seconds to load."""
    return import_module("service.process.key_commands")


def _service(url: str, key: str | None, certificate: Path | None) -> Connection:
    return connection_of(url, key, certificate)


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    role: Annotated[str, typer.Option(help="read, write, admin, or a role of CREATE ROLE.")] = "read",
    relations: Annotated[
        str | None, typer.Option(help="The only tables and views, names or patterns, separated by commas.")
    ] = None,
    if_none: Annotated[
        bool,
        typer.Option("--if-none", help="Only if there is no key and FRESHET_OPEN_TO_ANYONE is not yes."),
    ] = False,
    url: _Address = None,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Make a key, and show it once."""
    limits = None if relations is None else [relation.strip() for relation in relations.split(",")]
    source = context.get_parameter_source("url")
    if if_none and source is not None and source.name == "ENVIRONMENT":
        url = None  # a container may have the variable for its other commands
    if url is None:
        return _directory().add(name, role, limits, if_none)
    if if_none:
        raise typer.BadParameter("it is for the data directory: leave out --url", param_hint="--if-none")
    with _service(url, key, certificate) as connection:
        made = connection.make_key(name, role, limits)
    _print_key(f"key {made.name} of role {made.role}, id {made.id}. {_ONCE}", made.key)


@app.command("list")
def list_keys(url: _Address = None, key: Key = None, certificate: Certificate = None) -> None:
    """List all keys, without their secrets."""
    if url is None:
        return _directory().list_keys()
    with _service(url, key, certificate) as connection:
        found = connection.keys()
    print_objects([vars(described) for described in found], chosen(None))


@app.command()
def rotate(
    id: Annotated[str, typer.Argument(help="The key's id, as list shows it.")],
    grace: Annotated[float, typer.Option(help="Seconds for which the old secret stays valid.")] = 0.0,
    url: _Address = None,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Give a key a new secret, and show it once."""
    if url is None:
        return _directory().rotate(id, grace)
    with _service(url, key, certificate) as connection:
        made = connection.rotate_key(id, grace)
    _print_key(f"key {made.name}, id {made.id}, has a new secret. {_ONCE}", made.key)


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(help="The key's id, as list shows it.")],
    url: _Address = None,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Revoke a key for ever."""
    if url is None:
        return _directory().revoke(id)
    with _service(url, key, certificate) as connection:
        connection.revoke_key(id)
    print(f"key {id} is revoked")


def _print_key(sentence: str, text: str) -> None:
    """The key alone goes to standard output, so that `$(freshet keys add ...)` is the key."""
    print(harmless(sentence), file=sys.stderr)
    print(harmless(text))
