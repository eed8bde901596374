"""`freshet demo`: a service in the background, at work on the packages of Debian 12."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.demo import story
from service.demo.background import Background

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def demo(
    directory: Annotated[Path, typer.Option(help="Where its data and its log go.")] = Path("build", "demo"),
    stop: Annotated[bool, typer.Option("--stop", help="End the service that the demo left running.")] = False,
) -> None:
    """Show a service at work on Debian's packages.

    The demo starts a service in the background, and shows the main job step by step, with the requests to
    repeat it. The service stays: `freshet demo --stop` ends it.
    """
    background = Background(directory.absolute())
    raise typer.Exit(story.stop(background) if stop else story.show(background))
