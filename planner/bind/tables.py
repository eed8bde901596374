"""FROM: tables, views, CTEs, subqueries and VALUES; a comma between them binds more weakly than JOIN."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from planner.bind.expressions import ExpressionBinder
from planner.bind.joins import From, JoinBinder
from planner.bind.lists import Rows, bound_list, rows_of, with_places
from planner.bind.pivot import pivoted
from planner.bind.refuse import check_clauses, unsupported
from planner.bind.scope import Scope, Table
from planner.bind.session import BindQuery, Bound, Environment, Session
from planner.errors import InvalidQuery, UnknownTable
from planner.identifiers import fold
from planner.ir import (
    UNIT,
    Attribute,
    Join,
    JoinKind,
    Operator,
    Scan,
)
from planner.positions import fail
from planner.scalars import TRUE
from planner.suggestions import did_you_mean


class FromBinder:
    def __init__(self, session: Session, environment: Environment, bind_query: BindQuery) -> None:
        self.session = session
        self.environment = environment
        self.bind_query = bind_query
        self.joins = JoinBinder(session, environment, bind_query)

    def bind(self, select: exp.Select) -> From:
        """The FROM clause of a SELECT; one row without columns if it has none."""
        clause = select.args.get("from_")
        if clause is None:
            return From(UNIT, Scope(outer=self.environment.outer))
        tables = self._joined(clause.this, select.args.get("joins") or [])
        for view in select.args.get("laterals") or []:
            tables = self._join(exp.Join(this=view), tables, None)
        return tables

    def _joined(self, first: exp.Expression, joins: list[exp.Join]) -> From:
        """Tables between commas, each group joined from the left, then all groups crossed."""
        done: From | None = None
        group = self._table(first)
        for join in joins:
            check_clauses(join)
            if self._is_lateral(join.this):
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
        scope = self.joins.both(left, right, join)
        return From(Join(JoinKind.INNER, left.operator, right.operator, TRUE), scope)

    def _is_lateral(self, node: exp.Expression) -> bool:
        """Whether an item of FROM may refer to those on its left: elements of constant lists do not."""
        if rows_of(node, self.session.dialect) is not None:
            return node.find(exp.Column, exp.Query) is not None
        return isinstance(node, exp.Lateral)

    def _lateral(self, node: exp.Expression, scope: Scope) -> From:
        """A query, or elements of lists, over the tables of `scope`."""
        rows = rows_of(node, self.session.dialect)
        if rows is not None:
            return self._named_rows(rows, self._elements(rows, UNIT, Scope(outer=scope)))
        check_clauses(node)
        if not isinstance(node.this, exp.Subquery):
            unsupported(f"LATERAL {node.this.sql(self.session.dialect)}", node)
        bound = self.bind_query(self.session, node.this, self.environment.within(scope))
        return self._named(node, bound, "")

    def _elements(self, rows: Rows, input: Operator, scope: Scope) -> Bound:
        """The rows of `input`, which `scope` knows, with the elements of their lists: its columns."""

        def queries(query: exp.Expression, within: Scope) -> Bound:
            return self.bind_query(self.session, query, self.environment.within(within))

        bind = ExpressionBinder(self.session, scope, queries, "UNNEST").bind
        lists = [bound_list(node, bind, self.session.dialect) for node in rows.lists]
        return with_places(self.session, input, lists, rows)

    def _table(self, node: exp.Expression) -> From:
        rows = rows_of(node, self.session.dialect)
        if rows is not None:
            return self._named_rows(rows, self._elements(rows, UNIT, Scope(outer=self.environment.outer)))
        check_clauses(node)
        if node.args.get("pivots"):
            return self._pivoted(node)
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
        unsupported(f"{node.sql(self.session.dialect)} in FROM", node)

    def _pivoted(self, node: exp.Expression) -> From:
        """A table with the PIVOTs and UNPIVOTs behind it, one over the other."""
        *before, pivot = node.args["pivots"]
        source = node.copy()
        source.set("pivots", before)
        source.set("joins", None)
        names = [column.name for column in self._table(source).scope.star]
        bound = self.bind_query(self.session, pivoted(source, pivot, names), self.environment)
        return self._join_all(self._named(pivot, bound, node.alias_or_name), node.args.get("joins") or [])

    def _join_all(self, first: From, joins: list[exp.Join]) -> From:
        for join in joins:
            check_clauses(join)
            right = None if self._is_lateral(join.this) else self._table(join.this)
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

    def _named_rows(self, rows: Rows, bound: Bound) -> From:
        columns = bound.columns if rows.named else _renamed(rows.node, bound.columns)
        table = Table(rows.node.alias, columns)
        return From(bound.operator, Scope((table,), star=columns, outer=self.environment.outer))

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
            hint = f"there are {known}" if known else ""
            names = [*self.session.catalog, *self.environment.ctes]
            fail(UnknownTable(f'unknown table "{node.name}"', did_you_mean(node.name, names, hint)), node)
        self.session.reads.add(relation.name)
        columns = tuple(self.session.attribute(c.name, c.type, c.nullable) for c in relation.schema.columns)
        positions = tuple(range(len(columns)))
        scan = Scan(relation.name, relation.plan, columns, positions, relation.key, relation.rows)
        return Bound(scan, columns)

    def _join(self, node: exp.Join, left: From, right: From | None) -> From:
        """The join of two tables; without a right one, with the lateral query that the node holds."""
        if right is None:
            if node.side in ("RIGHT", "FULL"):
                unsupported(f"{node.side} JOIN LATERAL", node)
            scope = replace(left.scope, outer=self.environment.outer)
            rows = rows_of(node.this, self.session.dialect)
            if rows is not None and _joins_all(node):
                rows = replace(rows, outer=rows.outer or node.side == "LEFT")
                bound = self._elements(rows, left.operator, scope)
                named = self._named_rows(rows, bound)
                return From(bound.operator, self.joins.both(left, named, node))
            right = self._lateral(node.this, scope)
        return self.joins.join(node, left, right)


def _joins_all(join: exp.Join) -> bool:
    """Whether an inner or left join has no condition."""
    on = join.args.get("on")
    plain = on is None or (isinstance(on, exp.Boolean) and on.this)
    return plain and not join.args.get("using") and not join.method and join.kind not in ("SEMI", "ANTI")


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(part) for part in ("on", "using", "side", "kind", "method"))


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
