"""Joins of two tables of a FROM clause: which rows are paired, and how their columns are called.

A right join is a left join turned round. A semi or anti join is a filter with EXISTS. USING and
NATURAL merge columns: the merged column is the left one, the right one for a right join, and the
first of both that is not NULL for a full join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from engine.expressions import Op
from planner.bind.asof import asof_join
from planner.bind.coercion import alternatives, compare
from planner.bind.expressions import ExpressionBinder
from planner.bind.refuse import unsupported
from planner.bind.scope import Scope
from planner.bind.session import BindQuery, Bound, Environment, Session
from planner.errors import InvalidQuery, UnknownColumn
from planner.ir import Attribute, Exists, Expression, Filter, Join, JoinKind, Operator, Project
from planner.positions import fail
from planner.scalars import call, conjoin, may_be_null, negate
from planner.suggestions import did_you_mean

Pair = tuple[str, Attribute, Attribute]
"""A name that USING merges, and its column on either side."""


@dataclass(frozen=True)
class From:
    """Bound tables: their operator, and the scope of their columns."""

    operator: Operator
    scope: Scope


class JoinBinder:
    def __init__(self, session: Session, environment: Environment, bind_query: BindQuery) -> None:
        self.session = session
        self.environment = environment
        self.bind_query = bind_query

    def join(self, node: exp.Join, left: From, right: From) -> From:
        kind = _kind(node)
        pairs, condition = self._condition(node, left, right)
        if kind in (JoinKind.SEMI, JoinKind.ANTI):
            exists: Expression = Exists(Filter(right.operator, condition))
            kept = exists if kind is JoinKind.SEMI else negate(exists)
            return From(Filter(left.operator, kept), left.scope)
        operator: Operator
        if node.method == "ASOF":
            columns = right.scope.star
            operator = asof_join(self.session, node, kind, left.operator, right.operator, columns, condition)
        elif node.side == "RIGHT":
            operator = Join(JoinKind.LEFT, right.operator, left.operator, condition)
        else:
            operator = Join(kind, left.operator, right.operator, condition)
        return self._merged(node, left, right, pairs, operator)

    def _condition(self, node: exp.Join, left: From, right: From) -> tuple[list[Pair], Expression]:
        """The columns that USING merges, with their name, and the condition that pairs rows."""
        names = [identifier.name for identifier in node.args.get("using") or []]
        if node.method == "NATURAL":
            ours = {column.name.lower() for column in right.scope.star}
            names = [column.name for column in left.scope.star if column.name.lower() in ours]
        pairs = [(name, _using(left.scope, name, node), _using(right.scope, name, node)) for name in names]
        ops = [Op.EQ] * len(pairs)
        if pairs and node.method == "ASOF" and not node.args.get("match_condition"):
            ops[-1] = Op.GE
        parts = [compare(op, a.ref, b.ref) for op, (_, a, b) in zip(ops, pairs, strict=True)]
        conditions = [node.args[part] for part in ("on", "match_condition") if node.args.get(part)]
        if not conditions:
            return pairs, conjoin(parts)
        scope = self.both(left, right, node)

        def queries(query: exp.Expression, within: Scope) -> Bound:
            return self.bind_query(self.session, query, self.environment.within(within))

        binder = ExpressionBinder(self.session, scope, queries, "ON")
        return pairs, conjoin([*parts, *(binder.predicate(condition) for condition in conditions)])

    def both(self, left: From, right: From, node: exp.Join) -> Scope:
        """The scope of both sides; InvalidQuery if a table's name is there twice."""
        names = {table.alias.lower() for table in left.scope.tables if table.alias}
        for table in right.scope.tables:
            if table.alias.lower() in names:
                error = InvalidQuery(
                    f'table name "{table.alias}" is there twice', "give one of them an alias"
                )
                fail(error, node.this)
        return Scope(
            left.scope.tables + right.scope.tables,
            {**left.scope.merged, **right.scope.merged},
            left.scope.star + right.scope.star,
            self.environment.outer,
        )

    def _merged(
        self,
        node: exp.Join,
        left: From,
        right: From,
        pairs: list[Pair],
        operator: Operator,
    ) -> From:
        scope = self.both(left, right, node)
        if not pairs:
            return From(operator, scope)
        merged: dict[str, Attribute] = {}
        if node.side == "FULL":
            operator, merged = self._coalesced(operator, pairs)
        else:
            merged = {name.lower(): (b if node.side == "RIGHT" else a) for name, a, b in pairs}
        replaced = {a.id: merged[name.lower()] for name, a, _ in pairs}
        hidden = {b.id for _, _, b in pairs}
        star = tuple(replaced.get(c.id, c) for c in left.scope.star)
        star += tuple(c for c in right.scope.star if c.id not in hidden)
        return From(operator, replace(scope, merged={**scope.merged, **merged}, star=star))

    def _coalesced(self, operator: Operator, pairs: list[Pair]) -> tuple[Operator, dict[str, Attribute]]:
        columns = {column.id: column for column in operator.columns}
        items: list[tuple[Attribute, Expression]] = [(c, c.ref) for c in operator.columns]
        merged = {}
        for name, a, b in pairs:
            values, type = alternatives("COALESCE({})", [a.ref, b.ref])
            value = call(Op.COALESCE, *values, type=type)
            before = columns_before(operator)
            nullable = may_be_null(a.ref, before) or may_be_null(
                b.ref, before
            )  # a row may be of either alone
            attribute = self.session.attribute(columns[a.id].name, type, nullable)
            items.append((attribute, value))
            merged[name.lower()] = attribute
        return Project(operator, tuple(items)), merged


def columns_before(operator: Operator) -> dict[int, Attribute]:
    """The columns of a join's sides as they are before it pads them: a merged column is one of them."""
    return {column.id: column for side in operator.inputs for column in side.columns}


def _kind(node: exp.Join) -> JoinKind:
    if node.kind in ("SEMI", "ANTI"):
        return JoinKind[node.kind]
    if node.method == "ASOF":
        if node.side not in ("", "LEFT"):
            unsupported(f"ASOF {node.side} JOIN", node)
        return JoinKind.LEFT if node.side or node.args.get("match_condition") else JoinKind.INNER
    if node.method not in ("", "NATURAL"):
        unsupported(f"{node.method} JOIN", node)
    if node.side == "FULL":
        return JoinKind.FULL
    if node.side in ("LEFT", "RIGHT"):
        return JoinKind.LEFT
    if node.kind not in ("", "INNER", "CROSS", "OUTER"):
        unsupported(f"{node.kind} JOIN", node)
    return JoinKind.INNER


def _using(scope: Scope, name: str, node: exp.Join) -> Attribute:
    column = scope.local(exp.column(name))
    if column is None:
        near = did_you_mean(name, (column.name for column in scope.star))
        place = next((part for part in node.args.get("using") or [] if part.name == name), node)
        fail(UnknownColumn(f'column "{name}" in USING is not on both sides', near), place)
    return column
