"""Functions of relations in FROM, as references to them: diff(view, 'main', 'b'), rounds(view, 'name').

The rows of diff are those that the relation has more, or less, on the second branch; those of rounds are what
a recursion of the view came to, round by round.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.positions import fail

DIFF, ROUNDS = "diff", "rounds"
_TEXTS = {DIFF: (2, 2, "the names of two branches"), ROUNDS: (0, 1, "at most the name of a recursion")}
_FORMS = {DIFF: "diff(view, 'main', 'branch')", ROUNDS: "rounds(view), or rounds(view, 'name')"}
_CALLED = "called"


@dataclass(frozen=True)
class RelationCall:
    """A function with the texts that it takes after the name of the relation."""

    function: str
    texts: tuple[str, ...]


def with_relation_calls(query: exp.Expression) -> None:
    """Replaces calls of these functions in FROM by the relations that they name; changes the tree."""
    for table in list(query.find_all(exp.Table)):
        call = table.this
        if not isinstance(call, exp.Anonymous) or call.name.lower() not in _TEXTS:
            continue
        function, (relation, *texts) = call.name.lower(), call.expressions or [None]
        least, most, what = _TEXTS[function]
        form = f"write FROM {_FORMS[function]}"
        if not isinstance(relation, exp.Column) or relation.args.get("catalog") is not None:
            fail(InvalidQuery(f"{function} takes the name of a view or a table", form), call)
        is_text = all(isinstance(text, exp.Literal) and text.is_string for text in texts)
        if not least <= len(texts) <= most or not is_text:
            fail(InvalidQuery(f"{function} takes a relation and {what} in single quotes", form), call)
        table.set("this", relation.this)
        table.set("db", relation.args.get("table"))
        table.set(_CALLED, exp.Tuple(expressions=[exp.Literal.string(function), *texts]))


def take_call(table: exp.Table) -> RelationCall | None:
    """The function of a reference to a relation; None for the relation itself. Changes the node."""
    found = table.args.get(_CALLED)
    if found is None:
        return None
    table.set(_CALLED, None)
    function, *texts = (part.name for part in found.expressions)
    return RelationCall(function, tuple(texts))
