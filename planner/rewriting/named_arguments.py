"""PostgreSQL's functions of parts of a time with arguments by name, in their order.

make_time(sec => 1.5, hour => h, min => 0)   →   make_time(h, 0, 1.5)
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery
from planner.positions import fail

_NAMES: dict[type[exp.Expression], tuple[str, ...]] = {
    exp.TimeFromParts: ("hour", "min", "sec"),
    exp.TimestampFromParts: ("year", "month", "mday", "hour", "min", "sec"),
}


def named_arguments(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The call without names; None for any other node. Raises InvalidQuery for other names."""
    names = _NAMES.get(type(node))
    given = list(node.iter_expressions()) if names is not None else []
    named = [each for each in given if isinstance(each, exp.Kwarg | exp.PropertyEQ)]
    if names is None or not named or not has(dialect, Trait.FUNCTIONS_ARE_TABLES):
        return None
    found = {each.this.name.lower(): each.expression for each in named}
    by_place = dict(zip(names, given[: len(given) - len(named)], strict=False))
    if {**by_place, **found}.keys() != set(names) or len(found) + len(by_place) != len(names):
        fail(InvalidQuery("the function takes other arguments", f"it takes {', '.join(names)}"), node)
    values = [({**by_place, **found})[name] for name in names]
    return type(node)(**dict(zip(node.arg_types, (value.copy() for value in values), strict=False)))
