"""Joins of two tables of a FROM clause: which rows they pair, and the names of the columns.

A right join is a left join with its sides swapped. A semi or anti join is a filter with EXISTS. USING and
NATURAL merge columns: the merged column is the left one, for a right join the right one, for a full join the
first of both that is not NULL. In `*` the merged columns come first, as in the SQL standard; some dialects
leave them at their place in the left table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from engine.plan.expressions import Op
from planner.bind.asof import asof_join
from planner.bind.coercion import default_value, defaulting
from planner.bind.expression_binder import ExpressionBinder
from planner.bind.expressions.comparable_sides import bind_comparison, would_be_rounded
from planner.bind.expressions.merged_columns import rounded_type
from planner.bind.expressions.typed_alternatives import alternatives
from planner.bind.name_scope import NameScope
from planner.bind.refuse import refuse_unsupported
from planner.bind.session import BindQuery, Bound, Environment, Session, Taken
from planner.dialects.traits import Trait, has
from planner.errors import AmbiguousColumn, InvalidQuery, TypeMismatch, UnknownColumn
from planner.ir import Attribute, Exists, Expression, JoinKind, Project, Relational, Selection, ThetaJoin
from planner.ir.rewrite import identity
from planner.ir.scalars import TRUE, call, conjoin, may_be_null, negate
from planner.positions import fail
from planner.suggestions import did_you_mean

Pair = tuple[Attribute, Attribute]
"""The columns, one of each side, that USING merges."""
"""Dialects whose `*` leaves a merged column at its place in the left table."""


@dataclass(frozen=True)
class From:
    """Bound tables: their operator, and the scope of their columns."""

    operator: Relational
    scope: NameScope


class JoinBinder:
    def __init__(self, session: Session, environment: Environment, bind_query: BindQuery) -> None:
        self.session = session
        self.environment = environment
        self.bind_query = bind_query

    def crossed(self, left: From, right: From, node: exp.Expression) -> From:
        """All pairs of rows; the right side may refer to the left one's columns."""
        scope = self.both(left.scope, right.scope, node)
        return From(ThetaJoin(JoinKind.INNER, left.operator, right.operator, TRUE), scope)

    def join(self, node: exp.Join, left: From, right: From) -> From:
        kind = _kind(node)
        if node.side in ("RIGHT", "FULL") and right.operator.free & left.operator.ids:
            refuse_unsupported(
                f"{node.side} JOIN LATERAL", node, "join a LATERAL with INNER, LEFT or CROSS JOIN"
            )
        pairs, condition = self._condition(node, left, right)
        if kind in (JoinKind.SEMI, JoinKind.ANTI):
            exists: Expression = Exists(Selection(right.operator, condition))
            kept = exists if kind is JoinKind.SEMI else negate(exists)
            return From(Selection(left.operator, kept), left.scope)
        operator: Relational
        if node.method == "ASOF":
            columns = right.scope.star
            operator = asof_join(self.session, node, kind, left.operator, right.operator, columns, condition)
        elif node.side == "RIGHT":
            operator = ThetaJoin(JoinKind.LEFT, right.operator, left.operator, condition)
        else:
            operator = ThetaJoin(kind, left.operator, right.operator, condition)
        joined = self._merged(node, left, right, pairs, operator)
        if not has(self.session.dialect, Trait.ABSENT_IS_DEFAULT) or kind is JoinKind.INNER:
            return joined
        return self._with_defaults(node, left, right, pairs, joined)

    def _condition(self, node: exp.Join, left: From, right: From) -> tuple[list[Pair], Expression]:
        """The columns that USING merges, and the condition that pairs rows."""
        names = node.args.get("using") or []
        if node.method == "NATURAL":
            ours = {column.name.lower() for column in right.scope.star}
            common = (column.name for column in left.scope.star if column.name.lower() in ours)
            names = [exp.to_identifier(name, quoted=True) for name in common]
        pairs = [(_using(left.scope, name, node), _using(right.scope, name, node)) for name in names]
        for a, b in pairs:
            self._check_merged(node, left.scope, a, b)
        ops = [Op.EQ] * len(pairs)
        if pairs and node.method == "ASOF" and not node.args.get("match_condition"):
            ops[-1] = Op.GE
        dialect = self.session.dialect
        try:
            parts = [
                bind_comparison(op, a.ref, b.ref, dialect) for op, (a, b) in zip(ops, pairs, strict=True)
            ]
        except TypeMismatch as error:
            fail(error, node)
        for part in parts:
            self.session.provenance.condition(part, node)
        conditions = [node.args[part] for part in ("on", "match_condition") if node.args.get(part)]
        if not conditions:
            return pairs, conjoin(parts)
        scope = self.both(left.scope, right.scope, node.this)

        def queries(query: exp.Expression, within: NameScope) -> Bound:
            return self.bind_query(self.session, query, self.environment.within(within))

        binder = ExpressionBinder(self.session, scope, queries, "ON")
        return pairs, conjoin([*parts, *(binder.predicate(condition) for condition in conditions)])

    def _check_merged(self, node: exp.Join, scope: NameScope, merged: Attribute, other: Attribute) -> None:
        """Note a column that is merged twice, of decimals that DuckDB would round in between."""
        if merged.id not in self.session.merged or not has(self.session.dialect, Trait.KEEPS_DIGITS):
            return
        if rounded_type(merged.id, scope, self.session.merged) or would_be_rounded([merged.type, other.type]):
            error = f'"{merged.name}" of decimals with different digits is merged twice'
            self.session.takes(node, Taken(merged.type, refused=error))

    def both(self, left: NameScope, right: NameScope, node: exp.Expression) -> NameScope:
        """The scope of both sides. Raises InvalidQuery if a table's name occurs twice."""
        names = {table.alias.lower() for table in left.tables if table.alias}
        for table in right.tables:
            if table.alias.lower() in names:
                error = InvalidQuery(f'table name "{table.alias}" occurs twice', "give one of them an alias")
                fail(error, node)
        return NameScope(left.tables + right.tables, left.star + right.star, self.environment.outer)

    def _merged(
        self, node: exp.Join, left: From, right: From, pairs: list[Pair], operator: Relational
    ) -> From:
        scope = self.both(left.scope, right.scope, node.this)
        if not pairs:
            return From(operator, scope)
        if node.side == "FULL":
            operator, merged = self._coalesced(operator, pairs)
        else:
            merged = [b if node.side == "RIGHT" else a for a, b in pairs]
        lefts, rights = {a.id: place for place, (a, _) in enumerate(pairs)}, {b.id for _, b in pairs}
        if has(self.session.dialect, Trait.MERGES_IN_PLACE):
            star = [merged[lefts[c.id]] if c.id in lefts else c for c in left.scope.star]
        else:
            star = [*merged, *(c for c in left.scope.star if c.id not in lefts)]
        star += [c for c in right.scope.star if c.id not in rights]
        return From(operator, replace(scope, star=tuple(star)))

    def _with_defaults(
        self, node: exp.Join, left: From, right: From, pairs: list[Pair], joined: From
    ) -> From:
        """The join with the defaults of the types instead of NULL in columns that were NOT NULL before it."""
        padded = [left] if node.side == "RIGHT" else [left, right] if node.side == "FULL" else [right]
        merged = {each.id for pair in pairs for each in pair} if node.side == "FULL" else set()
        before = [
            c for side in padded for c in side.operator.columns if not c.nullable and c.id not in merged
        ]
        values = {c.id: defaulting(c.ref) for c in before if default_value(c.type) is not None}
        new = {c.id: self.session.attribute(c.name, c.type, False) for c in before if c.id in values}
        kept = identity(tuple(c for c in joined.operator.columns if c.id not in new))
        operator = Project(joined.operator, (*kept, *((new[id], value) for id, value in values.items())))

        def renamed(columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
            return tuple(new.get(column.id, column) for column in columns)

        tables = tuple(replace(table, columns=renamed(table.columns)) for table in joined.scope.tables)
        return From(operator, replace(joined.scope, tables=tables, star=renamed(joined.scope.star)))

    def _coalesced(self, operator: Relational, pairs: list[Pair]) -> tuple[Relational, list[Attribute]]:
        """The operator with a column for each pair: the first of its values that is not NULL."""
        before = columns_before(operator)
        merged: list[tuple[Attribute, Expression]] = []
        for a, b in pairs:
            values, type = alternatives("COALESCE({})", [a.ref, b.ref], self.session.dialect)
            nullable = may_be_null(a.ref, before) or may_be_null(
                b.ref, before
            )  # a row may come from one side alone
            value = call(Op.COALESCE, *values, type=type)
            column = self.session.attribute(a.name, type, nullable)
            self.session.merged[column.id] = (a.id, b.id)
            merged.append((column, value))
        return Project(operator, (*identity(operator.columns), *merged)), [column for column, _ in merged]


def columns_before(operator: Relational) -> dict[int, Attribute]:
    """The columns of a join's sides before it pads them; a merged column is computed from two of them."""
    return {column.id: column for side in operator.inputs for column in side.columns}


def _kind(node: exp.Join) -> JoinKind:
    if node.kind in ("SEMI", "ANTI"):
        return JoinKind[node.kind]
    if node.method == "ASOF":
        if node.side not in ("", "LEFT"):
            refuse_unsupported(f"ASOF {node.side} JOIN", node)
        return JoinKind.LEFT if node.side or node.args.get("match_condition") else JoinKind.INNER
    if node.method not in ("", "NATURAL"):
        refuse_unsupported(f"{node.method} JOIN", node)
    if node.side == "FULL":
        return JoinKind.FULL
    if node.side in ("LEFT", "RIGHT"):
        return JoinKind.LEFT
    if node.kind not in ("", "INNER", "CROSS", "OUTER"):
        refuse_unsupported(f"{node.kind} JOIN", node)
    return JoinKind.INNER


def _using(scope: NameScope, name: exp.Identifier, node: exp.Join) -> Attribute:
    """The column of a side that USING or NATURAL names. Raises UnknownColumn or AmbiguousColumn."""
    place = name if name.meta else node
    try:
        column = scope.local(exp.Column(this=name.copy()))
    except AmbiguousColumn as error:
        fail(error, place)
    if column is None:
        near = did_you_mean(name.name, (column.name for column in scope.star))
        fail(UnknownColumn(f'column "{name.name}" in USING is not on both sides', near), place)
    return column
