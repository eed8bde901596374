"""A points-to analysis: which objects the variables of a program may hold, as the program is edited."""

from __future__ import annotations

import re

from engine.api import Collection, Dataflow, Scope
from examples.programs.story import tell


def points_to(alloc: Collection, move: Collection, load: Collection, store: Collection) -> Collection:
    """From a program's statements, in any order, to (variable, object): what each variable may hold.

    | statement | its row |
    |---|---|
    | `variable = new object` | alloc (variable, object) |
    | `target = source` | move (target, source) |
    | `target = base.field` | load (target, base, field) |
    | `base.field = source` | store (base, field, source) |

    What objects hold in their fields and what variables hold follow from each other, so both are
    variables of one scope: Andersen's analysis, each field of each object apart.
    """
    loop = Scope(alloc.flow)
    points = loop.variable(alloc.distinct())
    heap = loop.variable(holder=str, field=str, object=str)

    moved = move.join(
        points,
        on=("source", "variable"),
        select=lambda it, held: {"variable": it.target, "object": held.object},
    )
    loaded = load.join(points, on=("base", "variable")).join(
        heap,
        on=(("object", "field"), ("holder", "field")),
        select=lambda it, held: {"variable": it.target, "object": held.object},
    )
    points.set(alloc.concat(moved, loaded).distinct())

    stored = store.join(points, on=("base", "variable")).join(
        points,
        on=("source", "variable"),
        select=lambda it, held: {"holder": it.object, "field": it.field, "object": held.object},
    )
    heap.set(stored.distinct())
    return points.leave()


STATEMENTS = (
    ("alloc", re.compile(r"(\w+) = new (\w+)")),
    ("load", re.compile(r"(\w+) = (\w+)\.(\w+)")),
    ("store", re.compile(r"(\w+)\.(\w+) = (\w+)")),
    ("move", re.compile(r"(\w+) = (\w+)")),
)


def parse(statement: str) -> tuple[str, tuple[str, ...]]:
    """The relation and the row of a statement, as the table of `points_to` has them."""
    for relation, pattern in STATEMENTS:
        if match := pattern.fullmatch(statement):
            return relation, match.groups()
    raise ValueError(f"{statement!r} is no statement")


def main() -> None:
    flow = Dataflow()
    relations = {
        "alloc": flow.input("alloc", variable=str, object=str),
        "move": flow.input("move", target=str, source=str),
        "load": flow.input("load", target=str, base=str, field=str),
        "store": flow.input("store", base=str, field=str, source=str),
    }
    held = points_to(**relations).output()
    for edit in (
        ["+ a = new List", "+ b = new Item", "+ a.next = b", "+ c = a"],
        ["+ d = c.next"],
        ["+ c.next = a"],
        ["- c = a", "+ c = new Tree"],
    ):
        for line in edit:
            relation, row = parse(line[2:])
            relations[relation].update(row, diff=1 if line[0] == "+" else -1)
        tell(flow, held, ";  ".join(edit))


if __name__ == "__main__":
    main()
