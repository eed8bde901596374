"""diff(view, 'main', 'b') in FROM: how a relation differs between two branches, as a reference to it.

Its rows are those that the relation has more, or less, on the second branch, and a last column says by how
many copies.
"""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.positions import fail

FUNCTION = "diff"
_BETWEEN = "between"
_FORM = "write FROM diff(view, 'main', 'branch')"


def with_differences(query: exp.Expression) -> None:
    """Replaces calls of diff in FROM by the relations that they name; changes the tree."""
    for table in list(query.find_all(exp.Table)):
        call = table.this
        if not isinstance(call, exp.Anonymous) or call.name.lower() != FUNCTION:
            continue
        arguments = call.expressions
        if len(arguments) != 3:
            fail(InvalidQuery("diff takes a view and two branches", _FORM), call)
        relation, *branches = arguments
        if not isinstance(relation, exp.Column) or relation.args.get("catalog") is not None:
            fail(InvalidQuery("diff takes the name of a view or a table", _FORM), call)
        if not all(isinstance(branch, exp.Literal) and branch.is_string for branch in branches):
            fail(InvalidQuery("diff takes the names of two branches as texts", _FORM), call)
        table.set("this", relation.this)
        table.set("db", relation.args.get("table"))
        table.set(_BETWEEN, exp.Tuple(expressions=branches))


def take_between(table: exp.Table) -> tuple[str, str] | None:
    """The branches between which a reference shows the difference; None for any other. Changes the node."""
    found = table.args.get(_BETWEEN)
    if found is None:
        return None
    table.set(_BETWEEN, None)
    ours, theirs = (branch.name for branch in found.expressions)
    return ours, theirs
