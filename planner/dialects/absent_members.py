"""Members that are absent, in ad-hoc queries of systems that have a default for them: [1, 2][3] is 0.

A view knows the type of the array or the map. Here a macro for each type of arrays does; where the default is
not known, an absent member is an error.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.dialects.traits import Trait, has
from planner.native.templates import call_of, is_native


def member_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A subscript whose member may be absent; any other node itself."""
    if dialect is None or not has(dialect, Trait.ABSENT_IS_DEFAULT) or is_native(node):
        return node
    match node:
        case exp.Bracket(expressions=[place]) if not isinstance(place, exp.Slice):
            return call_of(f"{PREFIX}member_of_clickhouse", [node.this, place], "the subscript")
    return node
