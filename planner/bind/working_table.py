"""Which recursive queries have a working table, because the system of their dialect runs them so.

PostgreSQL and DuckDB feed the step the rows of the last round alone, their working table; the fixed point
feeds it all rows so far. If the step is additive, that is the same. If it is not, a query that its own system
runs has the working table, and one that its system refuses has the fixed point. PostgreSQL refuses an
aggregate, outer join, subquery, EXCEPT, INTERSECT or second reference that sees the recursive name, unless it
sees it through a CTE. DuckDB refuses hardly anything. Other dialects are not known well enough: where the
answers may differ, such a query is refused.
"""

from __future__ import annotations

from sqlglot import exp

from planner.bind.additivity import is_additive
from planner.bind.determined_limits import check_determined
from planner.bind.session import Session
from planner.dialects.traits import Trait, has
from planner.errors import Unsupported
from planner.ir import Relational
from planner.parsing.table_references import recurring_nodes, table_nodes
from planner.positions import fail

_HINT = (
    "create it in the dialect postgres or duckdb, or write it as WITH MUTUALLY RECURSIVE, which reads all "
    "rows so far, as a bag"
)


def has_working_table(session: Session, cte: exp.CTE, step: Relational, variable: int) -> bool:
    """Whether a recursive query that its system runs needs a working table: `step` is its bound step.

    Raises Unsupported in a dialect for which the meaning is not decided, and for a LIMIT whose rows are not
    determined.
    """
    name, body = cte.alias.lower(), body_of(cte)
    if not recurring_nodes(name, body) and is_additive(session, step, variable, is_set(cte)):
        return False
    if not has(session.dialect, Trait.HAS_WORKING_TABLE):
        error = Unsupported(
            f'the step of recursive "{name}" is not supported in the dialect {session.dialect}: the rows of '
            "the last round and all rows so far give different answers",
            _HINT,
        )
        fail(error, references(name, body.expression)[0])
    check_determined(body.expression)
    return True


def beyond_working_table(name: str, cte: exp.CTE, dialect: str) -> tuple[str, exp.Expr] | None:
    """Why the system of the dialect refuses the recursive query, so that it has the fixed point's meaning: a
    construct, and the node at its place. None if it runs the query. Others than DuckDB are taken for
    PostgreSQL."""
    body = body_of(cte)
    if not isinstance(body, exp.Union):
        return "no UNION", cte.args["alias"]
    if _has_places(body):
        return "ORDER BY, LIMIT or OFFSET", cte.args["alias"]
    before = references(name, body.this)
    if before:
        return "a reference before its UNION", before[0]
    if has(dialect, Trait.STEPS_READ_ANYTHING):
        return ("BY NAME", body) if body.args.get("by_name") else None
    found = references(name, body.expression)
    if len(found) > 1:
        return "a second reference", found[1]
    construct = _around(found[0], body.expression)
    return None if construct is None else (construct, found[0])


def is_set(cte: exp.CTE) -> bool:
    """Whether the query removes duplicates: UNION without ALL."""
    return bool(body_of(cte).args.get("distinct"))


def body_of(cte: exp.CTE) -> exp.Expression:
    """The recursive query without parentheses around it."""
    body = cte.this
    while isinstance(body, exp.Subquery):
        body = body.this
    return body


def references(name: str, node: exp.Expression) -> list[exp.Table]:
    """The places that read the rows of the last round."""
    return [table for table in table_nodes(node) if table.name.lower() == name]


def _has_places(body: exp.Union) -> bool:
    """Whether the recursive query has its own ORDER BY, LIMIT or OFFSET, which PostgreSQL refuses."""
    return any(body.args.get(part) for part in ("order", "limit", "offset"))


def _around(reference: exp.Table, step: exp.Expression) -> str | None:
    """The construct around a single recursive reference that PostgreSQL refuses; None if it accepts it."""
    node: exp.Expr = reference
    direct = True
    while node is not step and node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.CTE):
            direct = False
        if isinstance(parent, exp.Except | exp.Intersect) and _counts(parent, node):
            return "EXCEPT or INTERSECT"
        if isinstance(parent, exp.Join) and parent.side in ("LEFT", "FULL"):
            return "an outer join"
        if isinstance(parent, exp.From | exp.Join) and _padded_by_later(parent):
            return "an outer join"
        if isinstance(node, exp.Query) and not isinstance(parent, exp.From | exp.Join | exp.Query | exp.CTE):
            return "a subquery in an expression"
        if isinstance(node, exp.Select) and direct and _aggregates(node):
            return "an aggregate"
        if isinstance(node, exp.Select):
            direct = False
        node = parent
    return "an aggregate" if isinstance(node, exp.Select) and direct and _aggregates(node) else None


def _counts(operation: exp.Except | exp.Intersect, side: exp.Expr) -> bool:
    """Whether PostgreSQL refuses the recursive name in this side: where rows are counted or taken away."""
    is_behind = isinstance(operation, exp.Except) and side is operation.expression
    return is_behind or not operation.args.get("distinct")


def _padded_by_later(node: exp.Expr) -> bool:
    """Whether a later RIGHT or FULL join of the same FROM makes this table the padded side."""
    select = node.parent
    joins = select.args.get("joins") or [] if select is not None else []
    later = joins[joins.index(node) + 1 :] if node in joins else joins
    return any(join.side in ("RIGHT", "FULL") for join in later)


def _aggregates(select: exp.Select) -> bool:
    lists = [*select.expressions, *([select.args["having"]] if select.args.get("having") else [])]
    return any(
        isinstance(n, exp.AggFunc) for e in lists for n in e.walk(prune=lambda n: isinstance(n, exp.Query))
    )
