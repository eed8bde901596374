"""The texts of EXPLAIN for a multijoin: equal columns, the path of each input's changes, and the
arrangements.

Inputs are named `i0`, `i1`, ... by position, because one step may be several of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.plan.join_paths import Access, Bind, Meet, PathCheck, Step, orders, paths
from engine.plan.multijoins import MultiJoin


def multijoin_text(node: MultiJoin, inputs: tuple[str, ...]) -> tuple[str, list[str]]:
    """The title and the details of a multijoin that reads the steps `inputs`."""
    equal = [" = ".join(f"i{i}.#{c}" for i, c in places) for places in node.equalities]
    ways = [
        f"from i{path.input}: {'; '.join(_step(step, node) for step in path.steps)}" for path in paths(node)
    ]
    names = dict(zip(node.parts, inputs, strict=True))
    kept = [
        f"arranged: {names[part]} by {_columns(order)}"
        for part, part_orders in orders(node).items()
        for order in part_orders
    ]
    return "worst-case optimal join" if node.is_cyclic else "delta join", [*equal, *ways, *kept]


def _step(step: Step, node: MultiJoin) -> str:
    match step:
        case Meet(access):
            return _access(access)
        case PathCheck(access):
            return f"if in {_access(access)}"
        case Bind(attribute, candidates):
            input, column = node.equalities[attribute][0]
            return (
                f"i{input}.#{column} from the fewest of {' | '.join(_access(c.propose) for c in candidates)}"
            )


def _access(access: Access) -> str:
    return (
        f"i{access.input} by {_columns(sorted(access.columns))}" if access.columns else f"all i{access.input}"
    )


def _columns(columns: Iterable[int]) -> str:
    return " ".join(f"#{column}" for column in columns)
