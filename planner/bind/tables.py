"""FROM: tables, views, CTEs, subqueries and VALUES, and the joins between them.

A comma binds more weakly than JOIN. A right join is a left join turned round. A semi or anti
join is a filter with EXISTS. USING and NATURAL merge columns: the merged column is the left
one, the right one for a right join, and the first of both that is not NULL for a full join.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.expressions import Op
from planner.bind.coercion import alternatives, compare
from planner.bind.expressions import ExpressionBinder
from planner.bind.refuse import check_clauses, unsupported
from planner.bind.scope import Scope, Table
from planner.bind.session import Bound, Environment, Session
from planner.errors import InvalidQuery, UnknownColumn, UnknownTable
from planner.identifiers import fold
from planner.ir import (
    UNIT,
    Attribute,
    Exists,
    Expression,
    Filter,
    Join,
    JoinKind,
    Operator,
    Project,
    Scan,
)
from planner.positions import fail
from planner.scalars import TRUE, call, conjoin, may_be_null, negate

BindQuery = Callable[[Session, exp.Expression, Environment], Bound]


@dataclass(frozen=True)
class From:
    """Bound tables: their operator, and the scope of their columns."""

    operator: Operator
    scope: Scope


class FromBinder:
    def __init__(self, session: Session, environment: Environment, bind_query: BindQuery) -> None:
        self.session = session
        self.environment = environment
        self.bind_query = bind_query

    def bind(self, select: exp.Select) -> From:
        """The FROM clause of a SELECT; one row without columns if it has none."""
        clause = select.args.get("from_")
        if clause is None:
            return From(UNIT, Scope(outer=self.environment.outer))
        return self._joined(clause.this, select.args.get("joins") or [])

    def _joined(self, first: exp.Expression, joins: list[exp.Join]) -> From:
        """Tables between commas, each group joined from the left, then all groups crossed."""
        done: From | None = None
        group = self._table(first)
        for join in joins:
            check_clauses(join)
            if isinstance(join.this, exp.Lateral):
                group = self._join(join, self._crossed(done, group, join), None)
                done = None
            elif _is_comma(join):
                done, group = self._crossed(done, group, join), self._table(join.this)
            else:
                group = self._join(join, group, self._table(join.this))
        return self._crossed(done, group, joins[-1]) if joins else group

    def _crossed(self, left: From | None, right: From, join: exp.Join) -> From:
        if left is None:
            return right
        scope = self._both(left, right, join)
        return From(Join(JoinKind.INNER, left.operator, right.operator, TRUE), scope)

    def _lateral(self, node: exp.Lateral, left: From) -> From:
        """A query that may refer to the tables on its left."""
        check_clauses(node)
        if not isinstance(node.this, exp.Subquery):
            unsupported(f"LATERAL {node.this.sql(self.session.dialect)}", node)
        within = self.environment.within(replace(left.scope, outer=self.environment.outer))
        return self._named(node, self.bind_query(self.session, node.this, within), "")

    def _table(self, node: exp.Expression) -> From:
        check_clauses(node)
        match node:
            case exp.Table():
                if not isinstance(node.this, exp.Identifier):
                    name = node.this.sql(self.session.dialect).split("(")[0].lower()
                    unsupported(f"table function {name}", node)
                joins = node.args.get("joins") or []
                named = self._named(node, self._relation(node), node.name)
                return self._join_all(named, joins)
            case exp.Subquery() if isinstance(node.this, exp.Table):
                return self._parenthesised(node)
            case exp.Subquery() | exp.Values():
                bound = self.bind_query(self.session, node, self.environment)
                named = self._named(node, bound, "")
                return self._join_all(named, node.args.get("joins") or [])
            case exp.Unnest():
                unsupported("UNNEST", node)
        unsupported(f"{node.sql(self.session.dialect)} in FROM", node)

    def _join_all(self, first: From, joins: list[exp.Join]) -> From:
        for join in joins:
            check_clauses(join)
            right = None if isinstance(join.this, exp.Lateral) else self._table(join.this)
            first = self._join(join, first, right)
        return first

    def _parenthesised(self, node: exp.Subquery) -> From:
        inner = self._table(node.this)
        if not node.alias:
            return inner
        table = Table(node.alias, _renamed(node, inner.scope.star))
        return From(inner.operator, Scope((table,), star=table.columns, outer=self.environment.outer))

    def _named(self, node: exp.Expression, bound: Bound, name: str) -> From:
        table = Table(node.alias or name, _renamed(node, bound.columns))
        return From(bound.operator, Scope((table,), star=table.columns, outer=self.environment.outer))

    def _relation(self, node: exp.Table) -> Bound:
        name = node.name.lower()
        folded = fold(node.this)
        schema = node.args.get("db")
        entry = None if schema else self.environment.ctes.get(name)
        if entry is not None:
            return self.session.reference(name, entry)
        relation = self.session.catalog.get(folded) or self.session.catalog.get(name)
        if relation is None or (schema and schema.name.lower() not in ("public", "main")):
            known = ", ".join(sorted(self.session.catalog)[:12])
            fail(UnknownTable(f'unknown table "{node.name}"', f"there are {known}" if known else ""), node)
        self.session.reads.add(relation.name)
        columns = tuple(self.session.attribute(c.name, c.type, c.nullable) for c in relation.schema.columns)
        scan = Scan(relation.name, relation.plan, columns, tuple(range(len(columns))), relation.key)
        return Bound(scan, columns)

    def _join(self, node: exp.Join, left: From, right: From | None) -> From:
        """The join of two tables; without a right one, with the lateral query that the node holds."""
        kind = _kind(node)
        if right is None:
            if kind is JoinKind.FULL or node.side == "RIGHT":
                unsupported(f"{node.side} JOIN LATERAL", node)
            right = self._lateral(node.this, left)
        pairs, condition = self._condition(node, left, right)
        if kind in (JoinKind.SEMI, JoinKind.ANTI):
            exists: Expression = Exists(Filter(right.operator, condition))
            return From(
                Filter(left.operator, exists if kind is JoinKind.SEMI else negate(exists)), left.scope
            )
        operator: Operator
        if node.side == "RIGHT":
            operator = Join(JoinKind.LEFT, right.operator, left.operator, condition)
        else:
            operator = Join(kind, left.operator, right.operator, condition)
        return self._merged(node, left, right, pairs, operator)

    def _condition(
        self, node: exp.Join, left: From, right: From
    ) -> tuple[list[tuple[str, Attribute, Attribute]], Expression]:
        """The columns that USING merges, with their name, and the condition that pairs rows."""
        names = [identifier.name for identifier in node.args.get("using") or []]
        if node.method == "NATURAL":
            ours = {column.name.lower() for column in right.scope.star}
            names = [column.name for column in left.scope.star if column.name.lower() in ours]
        if names:
            pairs = [
                (name, _using(left.scope, name, node), _using(right.scope, name, node)) for name in names
            ]
            return pairs, conjoin(compare(Op.EQ, a.ref, b.ref) for _, a, b in pairs)
        on = node.args.get("on")
        if on is None:
            return [], TRUE
        scope = self._both(left, right, node)

        def queries(query: exp.Expression, within: Scope) -> Bound:
            return self.bind_query(self.session, query, self.environment.within(within))

        return [], ExpressionBinder(self.session, scope, queries, "ON").predicate(on)

    def _both(self, left: From, right: From, node: exp.Join) -> Scope:
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
        pairs: list[tuple[str, Attribute, Attribute]],
        operator: Operator,
    ) -> From:
        scope = self._both(left, right, node)
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

    def _coalesced(
        self, operator: Operator, pairs: list[tuple[str, Attribute, Attribute]]
    ) -> tuple[Operator, dict[str, Attribute]]:
        columns = {column.id: column for column in operator.columns}
        items: list[tuple[Attribute, Expression]] = [(c, c.ref) for c in operator.columns]
        merged = {}
        for name, a, b in pairs:
            values, type = alternatives("COALESCE({})", [a.ref, b.ref])
            value = call(Op.COALESCE, *values, type=type)
            both = may_be_null(a.ref, columns_before(operator)) and may_be_null(
                b.ref, columns_before(operator)
            )
            attribute = self.session.attribute(columns[a.id].name, type, both)
            items.append((attribute, value))
            merged[name.lower()] = attribute
        return Project(operator, tuple(items)), merged


def columns_before(operator: Operator) -> dict[int, Attribute]:
    """The columns of a join's sides as they are before it pads them: a merged column is one of them."""
    return {column.id: column for side in operator.inputs for column in side.columns}


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(part) for part in ("on", "using", "side", "kind", "method"))


def _kind(node: exp.Join) -> JoinKind:
    if node.kind in ("SEMI", "ANTI"):
        return JoinKind[node.kind]
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
        fail(UnknownColumn(f'column "{name}" in USING is not on both sides'), node)
    return column


def _renamed(node: exp.Expression, columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns under the names that an alias lists: `t(a, b)`."""
    alias = node.args.get("alias")
    names = [fold(identifier) for identifier in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return renamed(names, columns, node)


def renamed(names: list[str], columns: tuple[Attribute, ...], node: exp.Expression) -> tuple[Attribute, ...]:
    """The columns, the first of them under `names`; InvalidQuery if there are more names than columns."""
    if len(names) > len(columns):
        fail(InvalidQuery(f"{len(names)} column names are given for {len(columns)} columns"), node)
    names = names + [column.name for column in columns[len(names) :]]
    return tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
