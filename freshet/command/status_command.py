"""`freshet status`: the state of a service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from freshet.command.connection_options import DEFAULT_URL, Certificate, Key, Url, connection_of
from freshet.command.printing import chosen, record_table

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def status(
    format: Annotated[
        Literal["table", "json"] | None, typer.Option(help="A terminal gets a table, a pipe JSON.")
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    certificate: Certificate = None,
) -> None:
    """Show the state of a service.

    It has the newest epoch, the number of tables and views, the views that have failed, jobs, and memory.
    """
    with connection_of(url, key, certificate) as connection:
        found = connection.status()
    if chosen(format) == "table":
        rows = list(_flat(found))
        Console().print(record_table([(name, "") for name, _ in rows], [value for _, value in rows]))
    else:
        print(json.dumps(found))


def _flat(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """The members of an object and of those inside, with dots between their names."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif name.endswith("_bytes"):
            yield before + name, f"{value / 2**20:,.1f} MB"
        else:
            yield before + name, ", ".join(value) if isinstance(value, list) else value
