"""FROM: tables, views, CTEs, subqueries and VALUES; a comma between them binds less tightly than JOIN.

LATERAL items and table functions may refer to the tables on their left: those of the same join tree, and
those before the commas. Such an operator has free columns until it is joined to these tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from planner.bind.asof import is_of_version, join_of_version
from planner.bind.expression_binder import ExpressionBinder
from planner.bind.join_binder import From, JoinBinder
from planner.bind.lists import ElementTable, bound_list, rows_of, spread, with_places
from planner.bind.name_scope import FromTable, NameScope
from planner.bind.pivot import pivoted
from planner.bind.refuse import HINTS, check_clauses, refuse_unsupported
from planner.bind.session import BindQuery, Bound, Entry, Environment, Session
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, UnknownTable
from planner.identifiers import fold, relation_name
from planner.ir import UNIT, Attribute, Relational, TableScan
from planner.limits import count_relation
from planner.native.templates import with_parts
from planner.parsing.dialect_parsers import is_comma
from planner.parsing.table_references import recurring_name
from planner.positions import fail, refuse
from planner.relation import Relation
from planner.relation_names import full_name, is_catalog, schema_of, shown_name
from planner.rewriting.valid_times import at_valid_time, has_no_valid_time, reads_all, valid_clause
from planner.suggestions import did_you_mean


class FromBinder:
    """Binds the FROM clauses of one query; a parameter `before` is the scope of the tables on the left."""

    def __init__(self, session: Session, environment: Environment, bind_query: BindQuery) -> None:
        self.session = session
        self.environment = environment
        self.bind_query = bind_query
        self.joins = JoinBinder(session, environment, bind_query)

    def bind(self, select: exp.Select) -> From:
        """The FROM clause of a SELECT; one row without columns if it has none."""
        nothing = NameScope(outer=self.environment.outer)
        clause = select.args.get("from_")
        if clause is None:
            return From(UNIT, nothing)
        tables = self._list(clause.this, select.args.get("joins") or [], nothing)
        for view in select.args.get("laterals") or []:
            tables = self._joined(exp.Join(this=view), tables, nothing)
        return tables

    def _list(self, first: exp.Expression, joins: Iterable[exp.Join], before: NameScope) -> From:
        """A table and the joins behind it: the groups between the commas, crossed."""
        (table, group), *others = _groups(first, joins)
        done = self._group(self._alone(table, before), group, before)
        for table, group in others:
            done = self._behind(done, table, group, before)
        return done

    def _group(self, first: From, joins: list[exp.Join], before: NameScope) -> From:
        """Tables joined from left to right."""
        for join in joins:
            first = self._joined(join, first, before)
        return first

    def _behind(self, done: From, table: exp.Expression, group: list[exp.Join], before: NameScope) -> From:
        """The tables before a comma, crossed with the group of joins behind it.

        `a, (f(a.x) JOIN c)` is planned as `(a, f(a.x)) JOIN c`, which reads `a` once. That is not possible if
        the join has rows that f(a.x) lacks.
        """
        visible = self.joins.both(before, done.scope, table)
        if not self._is_lateral(table) or any(join.side in _PADDED for join in group):
            return self.joins.crossed(done, self._group(self._alone(table, visible), group, visible), table)
        rows = rows_of(table, self.session.dialect)
        if rows is not None:
            item = self._elements(rows, done.operator, visible)
        else:
            alone = self._alone(table, visible)
            item = replace(alone, operator=self.joins.crossed(done, alone, table).operator)
        behind = self._group(item, group, visible)
        return replace(behind, scope=self.joins.both(done.scope, behind.scope, table))

    def _joined(self, join: exp.Join, left: From, before: NameScope) -> From:
        """The tables on the left, joined with the table that `join` names."""
        if is_of_version(join) and valid_clause(join.this) is None:
            join = join_of_version(join, self._known(join.this))
        if isinstance(join.this, exp.Table) and valid_clause(join.this) is not None:
            join = join.copy()
            join.set("this", self._at_valid_time(join.this))
        check_clauses(join)
        visible = self.joins.both(before, left.scope, join.this)
        rows = rows_of(join.this, self.session.dialect)
        if rows is not None and self._is_lateral(join.this) and _joins_all(join):
            rows = replace(rows, outer=rows.outer or join.side == "LEFT")
            item = self._elements(rows, left.operator, visible)
            return replace(item, scope=self.joins.both(left.scope, item.scope, join.this))
        return self.joins.join(join, left, self._list(join.this, (), visible))

    def _is_lateral(self, node: exp.Expression) -> bool:
        """Whether an item of FROM may refer to items on its left; elements of constant lists do not."""
        if rows_of(node, self.session.dialect) is not None:
            return node.find(exp.Column, exp.Query) is not None
        return isinstance(node, exp.Lateral)

    def _alone(self, node: exp.Expression, before: NameScope) -> From:
        """One item of FROM, without the joins behind it."""
        with self.session.provenance.noting(node):
            return self._item(node, before)

    def _item(self, node: exp.Expression, before: NameScope) -> From:
        elements = rows_of(node, self.session.dialect)
        if elements is not None:
            return self._elements(elements, UNIT, NameScope(outer=before))
        if isinstance(node, exp.Table) and valid_clause(node) is not None:
            node = self._at_valid_time(node)
        check_clauses(node)
        if node.args.get("pivots"):
            return self._pivoted(node, before)
        match node:
            case exp.Lateral(this=exp.Subquery() as query):
                bound = self.bind_query(self.session, query, self.environment.within(before))
                return self._named(node, bound, "")
            case exp.Lateral():
                refuse_unsupported(f"LATERAL {node.this.sql(self.session.dialect)}", node)
            case exp.Table(this=exp.Values() as rows):
                named = rows if rows.alias else node
                return self._named(named, self.bind_query(self.session, rows, self.environment), "")
            case exp.Table() if not isinstance(node.this, exp.Identifier):
                name = node.this.sql(self.session.dialect).split("(")[0].lower()
                refuse_unsupported(f"table function {name}", node)
            case exp.Table():
                return self._named(node, self._relation(node), node.name)
            case exp.Subquery() if is_join_tree(node):
                return self._parenthesised(node, before)
            case exp.Subquery() | exp.Values():
                around = self.environment
                if has(self.session.dialect, Trait.QUERIES_ARE_LATERAL):
                    around = replace(around, outer=before)
                return self._named(node, self.bind_query(self.session, node, around), "")
        refuse_unsupported(f"{node.sql(self.session.dialect)} in FROM", node)

    def _elements(self, rows: ElementTable, input: Relational, scope: NameScope) -> From:
        """The rows of `input`, which `scope` describes, with the elements of their lists."""

        def queries(query: exp.Expression, within: NameScope) -> Bound:
            return self.bind_query(self.session, query, self.environment.within(within))

        bind = ExpressionBinder(self.session, scope, queries, "UNNEST").bind
        lists = [bound_list(node, bind, self.session.dialect) for node in rows.lists]
        bound = with_places(self.session, input, lists, rows)
        bound, whole = spread(self.session, bound, lists)
        alias, columns = rows.node.alias, bound.columns
        if whole is not None and has(self.session.dialect, Trait.OFFSETS_FROM_ZERO):
            alias = next(iter(rows.node.alias_column_names), alias)
        else:
            columns = _renamed(rows.node, columns)
        table = FromTable(alias, columns, whole)
        return From(bound.operator, NameScope.of(table, self.environment.outer))

    def _pivoted(self, node: exp.Expression, before: NameScope) -> From:
        """A table with the PIVOTs and UNPIVOTs behind it, applied in order."""
        *earlier, pivot = node.args["pivots"]
        source = with_parts(node, pivots=earlier, joins=None)
        names = [column.name for column in self._alone(source, before).scope.star]
        bound = self.bind_query(
            self.session, pivoted(source, pivot, names, self.session.dialect), self.environment
        )
        return self._named(pivot, bound, node.alias_or_name)

    def _parenthesised(self, node: exp.Subquery, before: NameScope) -> From:
        inner = self._list(node.this, (), before)
        if not node.alias:
            return inner
        table = FromTable(node.alias, _renamed(node, inner.scope.star))
        return replace(inner, scope=NameScope.of(table, self.environment.outer))

    def _named(self, node: exp.Expression, bound: Bound, name: str) -> From:
        table = FromTable(node.alias or name, _renamed(node, bound.columns))
        return From(bound.operator, NameScope.of(table, self.environment.outer))

    def _relation(self, node: exp.Table) -> Bound:
        count_relation(node)
        is_plain = reads_all(node)
        entry = self._cte(node)
        if entry is not None:
            return self.session.reference(node.name.lower(), entry)
        relation = self._known(node)
        self.session.reads.add(relation.name)
        self.session.provenance.table(relation.name, node)
        plan, key, schema = relation.plan, relation.key, relation.schema
        if relation.period is not None and not is_plain:
            plan, key = self.session.at_one_time(relation)
            schema = plan.schema
        columns = tuple(self.session.attribute(c.name, c.type, c.nullable) for c in schema.columns)
        positions = tuple(range(len(columns)))
        scan = TableScan(relation.name, plan, columns, positions, key, relation.rows)
        return Bound(scan, columns)

    def _at_valid_time(self, node: exp.Table) -> exp.Expression:
        """What a reference with FOR VALID_TIME stands for; one to all rows stays."""
        clause = valid_clause(node)
        assert clause is not None
        if self._cte(node) is not None:
            has_no_valid_time(node.name, clause)
        relation = self._known(node)
        if relation.period is None:
            has_no_valid_time(node.name, clause)
        state = clause.args.get("state")
        if state is not None:
            refuse_unsupported(f"FOR {state.name} in a view", state, HINTS["version"])
        if clause.args["kind"] == "ALL":
            return node
        names = relation.schema.names
        since, until = (names[place] for place in relation.period)
        return at_valid_time(node, clause, [names[place] for place in relation.untimed], (since, until))

    def _cte(self, node: exp.Table) -> Entry | None:
        """The CTE that a name means; `recurring.name` is a recursion's rows so far."""
        recurring = recurring_name(node)
        if recurring is not None:
            return self.environment.ctes.get(f"recurring.{recurring}")
        return None if node.args.get("db") else self.environment.ctes.get(node.name.lower())

    def _known(self, node: exp.Table) -> Relation:
        """The table or view of the catalog that a name means."""
        catalog, name = self.session.catalog, relation_name(node)
        relation = catalog.get(name) or catalog.get(full_name(schema_of(name), node.name.lower()))
        if relation is None:
            known = ", ".join(sorted(catalog)[:12])
            hint = f"known are {known}" if known else ""
            hint = did_you_mean(name, [*catalog, *self.environment.ctes], hint)
            shown = shown_name(name) if node.args.get("db") else node.name
            if is_catalog(name):
                refuse(node, f"a view cannot read the catalog {shown}", _OF_CATALOGS)
            fail(UnknownTable(f'unknown table "{shown}"', hint), node)
        return relation


_OF_CATALOGS = (
    "query the catalogs themselves, or keep their rows of now: CREATE TABLE name AS SELECT ... FROM them"
)
_PADDED = ("RIGHT", "FULL")
"""Sides of a join that has rows which its left side lacks."""


def is_join_tree(node: exp.Subquery) -> bool:
    """Whether the parentheses hold tables of a FROM clause, not a query."""
    inner = node.this
    if isinstance(inner, exp.Subquery | exp.Values):
        named = any(inner.args.get(part) for part in ("alias", "joins", "pivots"))
        return named or (isinstance(inner, exp.Subquery) and is_join_tree(inner))
    return isinstance(inner, exp.Table | exp.UDTF)


def _groups(first: exp.Expression, joins: Iterable[exp.Join]) -> list[tuple[exp.Expression, list[exp.Join]]]:
    """The items before and between the commas, each with the joins behind it.

    A table in parentheses, or before several ONs, has joins of its own.
    """
    joins = (*(first.args.get("joins") or ()), *joins)
    if isinstance(first, exp.Table) and isinstance(first.this, exp.Lateral | exp.Unnest):
        first = first.this
    groups: list[tuple[exp.Expression, list[exp.Join]]] = [(first, [])]
    for join in joins:
        if is_comma(join):
            check_clauses(join)
            groups.append((join.this, []))
        else:
            groups[-1][1].append(join)
    return groups


def _joins_all(join: exp.Join) -> bool:
    """Whether an inner or left join pairs all rows with those of one table."""
    on = join.args.get("on")
    plain = on is None or (isinstance(on, exp.Boolean) and on.this)
    others = join.args.get("using") or join.method or join.kind in ("SEMI", "ANTI") or join.side in _PADDED
    return plain and not others and not join.this.args.get("joins")


def _renamed(node: exp.Expression, columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns under the names that an alias lists: `t(a, b)`."""
    alias = node.args.get("alias")
    names = [fold(identifier) for identifier in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return renamed(names, columns, node)


def renamed(names: list[str], columns: tuple[Attribute, ...], node: exp.Expression) -> tuple[Attribute, ...]:
    """The columns, the first ones under `names`. Raises InvalidQuery if there are more names than columns."""
    if len(names) > len(columns):
        fail(InvalidQuery(f"{len(names)} column names are given for {len(columns)} columns"), node)
    names = names + [column.name for column in columns[len(names) :]]
    return tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
