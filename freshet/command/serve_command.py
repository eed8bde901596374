"""`freshet serve`: the service. Its help has every setting."""

from __future__ import annotations

from importlib import import_module

import typer

from service.settings.settings import SETTINGS, Setting

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


def _described(setting: Setting) -> str:
    default = f" ({setting.default})" if setting.default else ""
    return f"- **{setting.variable}**{default}: {setting.meaning}"


@app.command(
    epilog="\n".join(["Settings, which are read from the environment:", "", *map(_described, SETTINGS)])
)
def serve() -> None:
    """Serve until SIGTERM or SIGINT.

    The service listens on the loopback alone until it is told otherwise. Its settings are environment
    variables.
    """
    import_module("service.process.beginning").serve()
