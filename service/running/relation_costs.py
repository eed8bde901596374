"""What each table and view costs, how big it is, and how far behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.runtime.upkeep import Upkeep
from service.definitions.definition import Definition
from service.definitions.readable import Readable
from service.running.runtime import Runtime


@dataclass(frozen=True)
class RelationFigures:
    """`behind` is the number of epochs that the relation does not have yet."""

    name: str
    kind: str
    rows: int
    behind: int
    upkeep: Upkeep


def relation_figures(runtime: Runtime) -> list[RelationFigures]:
    """The figures of every table and view, in the order of creation. Costs a look at each operator."""
    readable, upkeep = runtime.readable, runtime.upkeep()
    reached = {name: build.building.epoch for name, build in runtime.builds.items()}
    definitions = sorted(readable.known.all.values(), key=lambda definition: definition.id)
    return [_figures(it, readable, reached, upkeep) for it in definitions]


def _figures(
    definition: Definition, readable: Readable, reached: Mapping[str, int], upkeep: Mapping[str, Upkeep]
) -> RelationFigures:
    name = definition.name
    snapshot = readable.snapshot.relations.get(name)
    newest = readable.newest
    epoch = newest
    if name in reached:
        epoch = reached[name]
    elif snapshot is None:
        epoch = 0
    elif snapshot.failure is not None:
        epoch = newest if snapshot.lost is None else snapshot.lost - 1
    return RelationFigures(
        name,
        "view" if definition.is_view else "table",
        0 if snapshot is None else snapshot.size,
        max(0, newest - epoch),
        upkeep.get(name, Upkeep()),
    )
