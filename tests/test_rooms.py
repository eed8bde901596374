"""Everything is found at the first guess: names say one thing each, and imports run in no circle."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("engine", "planner", "service", "freshet")
MOST = 45
"""Modules in one folder; the kernels, small and alike, are the most."""
COMMON = {"__init__", "__main__", "errors"}
"""What every package has by the same name."""
OF_USERS = {"Change"}
"""What users of the client know by a name that something else has inside the service."""


@dataclass(frozen=True)
class Module:
    """What a module says of itself. Its syntax is not kept: the collector would look through the trees of all
    modules for as long as the process runs."""

    classes: tuple[str, ...]
    imports: tuple[tuple[str, str], ...]
    """What it imports from where."""


def read(path: Path) -> Module:
    tree = ast.parse(path.read_bytes())
    return Module(
        tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
        tuple(
            (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        ),
    )


@cache
def modules() -> dict[str, Module]:
    """Every module of the packages, by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = read(path)
    assert len(found) > 400
    return found


def imported(name: str) -> Iterator[str]:
    """The modules of ours that a module imports."""
    for place, what in modules()[name].imports:
        if place in modules():
            inner = f"{place}.{what}"
            yield inner if inner in modules() else place


def repeated(named: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    """What has a name more than once, by the name."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, place in named:
        places[name].append(place)
    assert len(places) > 300
    return {name: found for name, found in places.items() if len(found) > 1}


def test_a_file_name_is_one_thing() -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    assert not repeated((path.stem, str(path)) for path in files if path.stem not in COMMON)


def test_a_public_class_is_one_thing() -> None:
    classes = (
        (found, name)
        for name, module in modules().items()
        for found in module.classes
        if not found.startswith("_") and found not in OF_USERS
    )
    assert not repeated(classes)


def test_imports_run_in_no_circle() -> None:
    TopologicalSorter({name: set(imported(name)) - {name} for name in modules()}).prepare()


def test_no_room_is_too_full() -> None:
    rooms = [path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert {str(room) for room in rooms if rooms.count(room) > MOST} == set()
    roots = {package: rooms.count(ROOT / package) for package in PACKAGES}
    assert max(roots.values()) <= 12, roots
