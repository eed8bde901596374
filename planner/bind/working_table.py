"""Refuses recursive queries to which PostgreSQL's WITH RECURSIVE and the fixed point give different meanings.

PostgreSQL feeds the step the rows of the last iteration alone (its working table); the fixed point feeds it
all rows so far. Both give the same result if the step is *additive*: its value over a sum of inputs is the
sum of its values. PostgreSQL rejects an aggregate, outer join, subquery, EXCEPT, INTERSECT or second
reference that sees the recursive name, so such queries have the fixed point's meaning here. A step that
PostgreSQL accepts and that is not additive (DISTINCT under UNION ALL, or any of the former behind a CTE)
would silently mean two things.
"""

from __future__ import annotations

from sqlglot import exp

from planner.bind.dependence import Dependence
from planner.bind.session import Session
from planner.errors import Unsupported
from planner.ir import (
    Aggregate,
    Distinct,
    Fixpoint,
    JoinKind,
    Project,
    RecursiveRef,
    Relational,
    Selection,
    SetKind,
    SetOp,
    SharedRef,
    ThetaJoin,
    UnnestLists,
)
from planner.parsing.table_references import table_nodes
from planner.positions import fail

_HINT = "write it as WITH MUTUALLY RECURSIVE, which reads all rows so far, as a bag"


def check_working_table(session: Session, name: str, cte: exp.CTE, value: Relational, variable: int) -> None:
    """Raise Unsupported if PostgreSQL accepts the recursive query with another meaning."""
    if beyond_working_table(name, cte) is not None:
        return
    body = _body(cte)
    as_set = bool(body.args.get("distinct"))
    if not _Additivity(session, as_set).holds(_step(value), frozenset({variable})):
        means = "LIMIT, a window function, or a second use of its rows,"
        if not as_set:
            means = f"DISTINCT, {means}"
        error = Unsupported(
            f'the step of recursive "{name}" has {means} where only the rows of the last iteration '
            "and all rows so far give different answers",
            _HINT,
        )
        fail(error, _references(name, body.expression)[0])


def beyond_working_table(name: str, cte: exp.CTE) -> tuple[str, exp.Expr] | None:
    """Why PostgreSQL refuses the recursive query, so that it has the fixed point's meaning: a construct, and
    the node at its place. None if PostgreSQL accepts it."""
    body = _body(cte)
    if not isinstance(body, exp.Union):
        return "no UNION", cte.args["alias"]
    if _has_places(body):
        return "ORDER BY, LIMIT or OFFSET", cte.args["alias"]
    before = _references(name, body.this)
    if before:
        return "a reference before its UNION", before[0]
    references = _references(name, body.expression)
    if len(references) > 1:
        return "a second reference", references[1]
    construct = _around(references[0], body.expression)
    return None if construct is None else (construct, references[0])


def _body(cte: exp.CTE) -> exp.Expression:
    body = cte.this
    while isinstance(body, exp.Subquery):
        body = body.this
    return body


def _references(name: str, node: exp.Expression) -> list[exp.Table]:
    return [table for table in table_nodes(node) if table.name.lower() == name]


def _has_places(body: exp.Union) -> bool:
    """Whether the recursive query has its own ORDER BY, LIMIT or OFFSET, which PostgreSQL refuses."""
    return any(body.args.get(part) for part in ("order", "limit", "offset"))


def _step(value: Relational) -> Relational:
    """The recursive part of a bound `base UNION [ALL] step`."""
    while isinstance(value, Distinct | Project):
        value = value.input
    return value.right if isinstance(value, SetOp) else value


def _around(reference: exp.Table, step: exp.Expression) -> str | None:
    """The construct around a single recursive reference that PostgreSQL refuses; None if it accepts it."""
    node: exp.Expr = reference
    direct = True
    while node is not step and node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.CTE):
            direct = False
        if isinstance(parent, exp.Except | exp.Intersect):
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


class _Additivity:
    """Whether an operator is additive in some variables; with `as_set`, up to the number of equal rows."""

    def __init__(self, session: Session, as_set: bool) -> None:
        self.session = session
        self.as_set = as_set
        self.dependence = Dependence(session)

    def holds(self, operator: Relational, variables: frozenset[int]) -> bool:
        if not self.dependence.of(operator, variables):
            return True
        if any(self.dependence.in_subquery(e, variables) for e in operator.expressions):
            return False
        match operator:
            case RecursiveRef():
                return True
            case SharedRef(number=number):
                return self.holds(self.session.definitions[number], variables)
            case Project(input=input) | Selection(input=input) | UnnestLists(input=input):
                return self.holds(input, variables)
            case Distinct(input=input) | Aggregate(input=input, items=()):
                return self.as_set and self.holds(input, variables)
            case ThetaJoin(kind=kind, left=left, right=right):
                return self._join(kind, left, right, variables)
            case SetOp(kind=SetKind.UNION, left=left, right=right):
                return self.holds(left, variables) and self.holds(right, variables)
            case Fixpoint(bindings=bindings):
                inner = variables | {binding.variable for binding in bindings}
                return all(self.holds(binding.value, inner) for binding in bindings)
            case _:
                return False

    def _join(self, kind: JoinKind, left: Relational, right: Relational, variables: frozenset[int]) -> bool:
        if self.dependence.of(right, variables):
            return (
                kind is JoinKind.INNER
                and not self.dependence.of(left, variables)
                and self.holds(right, variables)
            )
        return kind is not JoinKind.FULL and self.holds(left, variables)
