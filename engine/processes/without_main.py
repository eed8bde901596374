"""Spares children the program's main module: loaded in the server of children alone, before any child.

multiprocessing runs the main module again in each child, in case the child's target is from there. Children
of the engine have their targets in modules, and the main module may be a program that embeds the service and
has no `if __name__ == "__main__"`: it would run as a whole in every child. Other children of the program,
which have other names, get their main module as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from multiprocessing import spawn
from typing import Any

PREFIX = "freshet-"
"""What the names of the engine's children begin with."""
_MAIN = ("init_main_from_name", "init_main_from_path")
_prepare = spawn.prepare


def _prepare_without_main(data: Mapping[str, Any]) -> None:
    if data.get("name", "").startswith(PREFIX):
        data = {key: value for key, value in data.items() if key not in _MAIN}
    _prepare(data)


spawn.prepare = _prepare_without_main
