"""GROUP BY: the sets of expressions to group by, as written.

The elements of GROUP BY multiply. Each element stands for some sets, an expression for the one set of itself,
and each set of the clause unites one set per element. ROLLUP stands for its prefixes, CUBE for its subsets,
GROUPING SETS for all sets inside.
"""

from __future__ import annotations

from itertools import combinations, product

from sqlglot import exp

from planner.limits import current, too_many_relations
from planner.positions import fail, refuse

MAX_SETS = 4096

Nodes = tuple[exp.Expression, ...]


def grouping_sets(group: exp.Group) -> list[Nodes]:
    """The sets in order; just one if there is no ROLLUP, CUBE or GROUPING SETS."""
    plain = group.expressions
    behind = [part for name in ("rollup", "cube", "grouping_sets") for part in group.args.get(name) or ()]
    if not behind:
        elements = [_sets(node) for node in plain]
    elif any(part.expressions for part in behind):
        elements = [_sets(part) for part in behind]
    else:
        every: Nodes = tuple(node for part in plain for node in _members(part))
        elements = [_of(type(part), [(node,) for node in every]) for part in behind]
    count = 1
    for element in elements:
        count *= len(element)
    if count > min(MAX_SETS, current().relations):
        fail(too_many_relations(f"GROUP BY has {count} grouping sets, which all read its rows"), group)
    return [tuple(node for part in choice for node in part) for choice in product(*elements)]


def _sets(node: exp.Expression) -> list[Nodes]:
    """The sets that an element of GROUP BY or GROUPING SETS stands for."""
    match node:
        case exp.GroupingSets():
            return [found for part in node.expressions for found in _sets(part)]
        case exp.Rollup() | exp.Cube():
            return _of(type(node), [_members(part) for part in node.expressions])
        case _:
            return [_members(node)]


def _of(kind: type[exp.Expression], members: list[Nodes]) -> list[Nodes]:
    """The sets of a ROLLUP or CUBE, the largest first."""
    sizes = range(len(members), -1, -1)
    if kind is exp.Rollup:
        chosen = [tuple(members[:size]) for size in sizes]
    else:
        if len(members) > MAX_SETS.bit_length():
            refuse(members[0][0], f"CUBE of {len(members)} expressions is not supported")
        chosen = [some for size in sizes for some in combinations(members, size)]
    return [tuple(node for part in some for node in part) for some in chosen]


def _members(node: exp.Expression) -> Nodes:
    """The expressions of a list in parentheses, which may be empty, or the one expression."""
    if isinstance(node, exp.Tuple):
        return tuple(node.expressions)
    return (node.this,) if isinstance(node, exp.Paren) else (node,)
