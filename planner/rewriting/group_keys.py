"""What a query groups by, as expressions over its tables."""

from __future__ import annotations

from sqlglot import exp

from planner.positions import refuse

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def group_keys(query: exp.Select, place: exp.Expression, construct: str) -> list[exp.Expression]:
    """The keys of the groups; none without GROUP BY. Raises Unsupported, at `place` and with the construct
    that needs them, for several grouping sets."""
    group = query.args.get("group")
    if group is None:
        return []
    if group.find(*_SETS):
        hint = "write a query for each grouping set, and UNION ALL"
        refuse(place, f"{construct} with several grouping sets is not supported", hint)
    return [
        query.expressions[int(key.name) - 1].unalias() if key.is_int else key for key in group.expressions
    ]
