"""SELECT: FROM, WHERE, GROUP BY, HAVING, the select list, DISTINCT, in this order.

In a query with aggregates or GROUP BY, every expression above the aggregation is first bound over the columns
below it, then rewritten: a grouping key becomes the key's column, and any other column from below is an
error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from planner.bind.aggregate_calls import has_aggregate
from planner.bind.aggregate_uses import Collector
from planner.bind.coercion import typed
from planner.bind.expression_binder import SELECT_LIST, ExpressionBinder
from planner.bind.frames import named_windows
from planner.bind.from_binder import FromBinder
from planner.bind.grouping import Grouping
from planner.bind.groupsets import grouping_sets
from planner.bind.join_binder import From
from planner.bind.lists import SelectLists
from planner.bind.name_scope import NameScope
from planner.bind.order import Term, distinct_terms, listed, order_terms, ordered
from planner.bind.refuse import check_clauses
from planner.bind.round_priority import prioritized
from planner.bind.row_limits import RowLimits, complete, limited, limits_of, placed
from planner.bind.session import BindQuery, Bound, Environment, Session
from planner.bind.stars import OutputColumn, SelectList, every, select_list
from planner.bind.window_uses import Rewrite, WindowUses
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, InvalidSyntax
from planner.ir import Aggregate, Attribute, Distinct, Expression, Project, Relational, Selection, Top
from planner.ir.scalars import may_be_null
from planner.positions import fail


def bind_select(session: Session, node: exp.Select, environment: Environment, bind_query: BindQuery) -> Bound:
    check_clauses(node)
    if not node.expressions:
        fail(InvalidSyntax("the select list is empty"), node)
    bound = _SelectBinder(session, node, environment, bind_query).bind()
    return prioritized(session, node, environment.recursion, bound)


class _SelectBinder:
    def __init__(
        self, session: Session, node: exp.Select, environment: Environment, bind_query: BindQuery
    ) -> None:
        self.session = session
        self.node = node
        self.environment = environment
        self.bind_query = bind_query
        self.listed: dict[int, Expression] = {}

    def bind(self) -> Bound:
        source = FromBinder(self.session, self.environment, self.bind_query).bind(self.node)
        outputs = select_list(self.node.expressions, source.scope)
        self.session.lists[id(self.node)] = SelectList(outputs, source.scope)
        scope = replace(source.scope, aliases=_aliases(self.node, self.session.dialect))
        operator = self._where(source, scope)
        sets = self._sets(scope, outputs)
        collector = Collector(self.session, tuple(dict.fromkeys(key for keys in sets for key in keys)))
        windows = WindowUses(self.session, named_windows(self.node))
        lists = SelectLists(self.session)
        values = self._values(scope, outputs, collector, windows, lists)
        having = self._having(scope, collector)
        qualify = self._qualify(scope, collector, windows)
        names = [output.name for output in outputs]
        on = distinct_terms(self.node, names, self._binder(scope, "DISTINCT ON", collector, windows).bind)
        terms = order_terms(self.node, names, self._binder(scope, "ORDER BY", collector, windows).bind)
        above: Rewrite = _unchanged
        if self.node.args.get("group") or collector.found or collector.groupings or having is not None:
            grouping = self._grouping(operator, sets, collector)
            operator, above = grouping.operator, grouping.above
            if having is not None:
                operator = self._filtered(operator, above(having, self.node.args["having"]), "having")
        values = [above(value, output.node) for value, output in zip(values, outputs, strict=True)]
        on, terms = ([term.changed(above) for term in part] for part in (on, terms))
        lists = lists.changed(lambda value: above(value, self.node))
        used = [*values, *lists.arguments, *(term.value for term in (*on, *terms) if term.value is not None)]
        if qualify is None:
            operator = windows.over(operator, above, self.node, used)
        else:
            qualify = above(qualify, self.node.args["qualify"])
            operator = windows.over(operator, above, self.node, [*used, qualify])
            operator = self._filtered(operator, qualify, "qualify")
        return self._projected(lists.over(operator), outputs, values, on, terms)

    def _binder(
        self,
        scope: NameScope,
        clause: str,
        collector: Collector | None = None,
        windows: WindowUses | None = None,
        lists: SelectLists | None = None,
    ) -> ExpressionBinder:
        def queries(query: exp.Expression, within: NameScope) -> Bound:
            return self.bind_query(self.session, query, self.environment.within(within))

        return ExpressionBinder(self.session, scope, queries, clause, collector, windows, lists)

    def _grouping(self, below: Relational, sets: list[list[Expression]], collector: Collector) -> Grouping:
        provenance, group = self.session.provenance, self.node.args.get("group")
        with provenance.noting(group or self.node):
            grouping = Grouping(self.session, below, sets, collector)
        if group is not None and isinstance(grouping.operator, Aggregate):
            provenance.order(grouping.operator.keys, group)
        return grouping

    def _filtered(self, operator: Relational, predicate: Expression, clause: str) -> Relational:
        """The rows that HAVING or QUALIFY keeps."""
        self.session.provenance.condition(predicate, self.node.args[clause])
        return Selection(operator, predicate)

    def _where(self, source: From, scope: NameScope) -> Relational:
        where = self.node.args.get("where")
        if where is None:
            return source.operator
        return Selection(source.operator, self._binder(scope, "WHERE").predicate(every(where.this, scope)))

    def _sets(self, scope: NameScope, outputs: list[OutputColumn]) -> list[list[Expression]]:
        """The grouping sets; one set without keys if there is no GROUP BY."""
        group = self.node.args.get("group")
        if group is None:
            return [[]]
        check_clauses(group)
        binder = self._binder(scope, "GROUP BY")
        if group.args.get("all") and not group.expressions:
            plain = (i for i, output in enumerate(outputs) if not has_aggregate(output.node))
            return [[typed(self._output(binder, outputs, i)) for i in plain]]
        bound: dict[int, Expression] = {}
        sets: list[list[Expression]] = []
        for nodes in grouping_sets(group):
            bound |= {id(n): typed(self._key(binder, n, outputs)) for n in nodes if id(n) not in bound}
            sets.append([bound[id(node)] for node in nodes])
        if group.args.get("all") is False:  # GROUP BY DISTINCT
            return list({frozenset(keys): keys for keys in sets}.values())
        return sets

    def _key(self, binder: ExpressionBinder, node: exp.Expression, outputs: list[OutputColumn]) -> Expression:
        """A key: an ordinal or a name of the select list, or an expression."""
        index = self._listed(binder, node, outputs)
        return binder.bind(node) if index is None else self._output(binder, outputs, index)

    def _output(self, binder: ExpressionBinder, outputs: list[OutputColumn], index: int) -> Expression:
        """A key from the select list, bound once, so that it is recognized above the aggregation."""
        if index not in self.listed:
            output = outputs[index]
            self.listed[index] = output.value or binder.item(_unaliased(output.node), output.name)
        return self.listed[index]

    def _listed(
        self, binder: ExpressionBinder, node: exp.Expression, outputs: list[OutputColumn]
    ) -> int | None:
        if isinstance(node, exp.Column) and binder.scope.local(node) is not None:
            return None
        names = [output.name if isinstance(output.node, exp.Alias) else "" for output in outputs]
        return listed(node, names, "GROUP BY")

    def _values(
        self,
        scope: NameScope,
        outputs: list[OutputColumn],
        collector: Collector,
        windows: WindowUses,
        lists: SelectLists,
    ) -> list[Expression]:
        binder = self._binder(scope, SELECT_LIST, collector, windows, lists)
        return [
            self.listed.get(i) or output.value or binder.item(_unaliased(output.node), output.name)
            for i, output in enumerate(outputs)
        ]

    def _having(self, scope: NameScope, collector: Collector) -> Expression | None:
        having = self.node.args.get("having")
        return self._binder(scope, "HAVING", collector).predicate(having.this) if having else None

    def _qualify(self, scope: NameScope, collector: Collector, windows: WindowUses) -> Expression | None:
        qualify = self.node.args.get("qualify")
        return self._binder(scope, "QUALIFY", collector, windows).predicate(qualify.this) if qualify else None

    def _projected(
        self,
        operator: Relational,
        outputs: list[OutputColumn],
        values: list[Expression],
        on: list[Term],
        terms: list[Term],
    ) -> Bound:
        distinct = self.node.args.get("distinct")
        limits = limits_of(self.session, self.node)
        if distinct is not None or not limits.keep_all:
            values = [typed(value) for value in values]
        known = {column.id: column for column in operator.columns}
        items = tuple(
            (self._listed_column(output, value, known), value)
            for output, value in zip(outputs, values, strict=True)
        )
        columns = tuple(attribute for attribute, _ in items)
        rows = Project(operator, items)
        if distinct is not None:
            return self._distinct(rows, columns, on, terms, limits)
        if limits.keep_all:
            return Bound(rows, columns)
        return placed(self.session, rows, columns, terms, limits)

    def _listed_column(
        self, output: OutputColumn, value: Expression, known: Mapping[int, Attribute]
    ) -> Attribute:
        """A column of the result."""
        with self.session.provenance.noting(output.node):
            return self.session.attribute(output.name, value.type, may_be_null(value, known))

    def _distinct(
        self,
        rows: Project,
        columns: tuple[Attribute, ...],
        on: list[Term],
        terms: list[Term],
        limits: RowLimits,
    ) -> Bound:
        """Each row once, or with DISTINCT ON the first row of each key; then the rows within the limits."""
        wide, order = ordered(self.session, rows, columns, [*on, *terms])
        if not self.node.args["distinct"].args.get("on"):
            if wide is not rows:
                error = "with SELECT DISTINCT, every expression of ORDER BY must be in the select list"
                fail(InvalidQuery(error), self.node.args["order"], "ORDER")
            return limited(self.session, Bound(Distinct(rows), columns), order, limits)
        keys, order = tuple(o.column for o in order[: len(on)]), order[len(on) :]
        first = Top(wide, keys, complete(order, columns), 1)
        return limited(self.session, Bound(first, columns), order, limits)


def _unchanged(expression: Expression, node: exp.Expression) -> Expression:
    """The expression itself: without an aggregation, nothing is rewritten."""
    return expression


def _aliases(node: exp.Select, dialect: str) -> dict[str, exp.Expression]:
    """The names that the select list defines; they apply where no column has the name. In a dialect in which
    they hide columns, expressions and REPLACE may define some too."""
    if has(dialect, Trait.ALIASES_BEFORE_COLUMNS):
        inside = (part for e in node.expressions for part in e.walk(prune=lambda n: isinstance(n, exp.Query)))
        return {
            part.alias.lower(): part.this for part in reversed(list(inside)) if isinstance(part, exp.Alias)
        }
    return {e.alias.lower(): e.this for e in reversed(node.expressions) if isinstance(e, exp.Alias)}


def _unaliased(node: exp.Expression) -> exp.Expression:
    return node.this if isinstance(node, exp.Alias) else node
