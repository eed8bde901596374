"""CONNECT BY: rows under rows, from those of START WITH on, as a recursion.

    SELECT a, LEVEL FROM t            →   SELECT a, level
    START WITH p CONNECT BY               FROM (WITH RECURSIVE "connected#" AS (
      PRIOR a = b                           SELECT 1 AS level, t.*, [key] AS "keys#" FROM t WHERE p
                                            UNION ALL
                                            SELECT "prior#".level + 1, t.*, list_append("prior#"."keys#", key)
                                            FROM "connected#" AS "prior#", t
                                            WHERE "prior#".a = t.b AND <no loop>)
                                          SELECT * FROM "connected#") AS t

The key of a row has the values that PRIOR asks of it. A row closes a loop if a row above it has its key: with
NOCYCLE it is left out, else it is an error of this row. Without PRIOR there are no loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from planner.errors import InvalidQuery, Unsupported
from planner.native import templates
from planner.positions import fail, refuse
from planner.rewriting.enclosed_rows import alone, conjuncts, enclose, hide, named, own, star_of, where_of

_CONNECTED, _PRIOR, _KEYS, _PLACE, _PATH = "connected#", "prior#", "keys#", "place#", "order#"
_LEVEL, _IS_LEAF, _IS_CYCLE = "level", "connect_by_isleaf", "connect_by_iscycle"
SIBLINGS = "siblings"
"""The mark of an order that the hierarchy itself has, before rows are counted."""
_LOOP = "CASE WHEN {0} THEN CAST('CONNECT BY loop in user data: ' || {1} AS BOOLEAN) ELSE true END"
"""A cast that fails for the key of a row that closes a loop."""
_PSEUDO = frozenset({"level", "connect_by_isleaf", "connect_by_iscycle", "rownum"})
_NO_CYCLE = "write CONNECT BY NOCYCLE"


def hierarchy(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query without CONNECT BY; None for any other. Raises InvalidQuery or Unsupported."""
    if not isinstance(node, exp.Select) or node.args.get("connect") is None:
        return None
    query = node.copy()
    if alone(query) is None:
        if query.args.get("from_") is None:
            fail(InvalidQuery("CONNECT BY needs a FROM clause"), node)
        _join(query)
    return _Hierarchy(query, dialect).query()


def _join(query: exp.Select) -> None:
    """Put joined tables into one query, with the conditions of WHERE that compare columns of several."""
    conditions = conjuncts(query.args.get("where"))
    joining = [condition for condition in conditions if _compares_tables(condition)]
    others = [condition for condition in conditions if not any(condition is other for other in joining)]
    query.set("where", where_of(others))
    enclose(query, kept=_PSEUDO)
    if joining:
        query.args["from_"].this.this.where(*joining, copy=False)


def _compares_tables(condition: exp.Expr) -> bool:
    columns = list(condition.find_all(exp.Column))
    if any(not column.table for column in columns):
        hint = "give the columns the names of their tables, or put the join into a query in FROM"
        error = Unsupported("CONNECT BY over a join whose WHERE does not say which columns it joins", hint)
        fail(error, condition)
    return len({column.table.lower() for column in columns}) > 1


@dataclass(frozen=True)
class _Carried:
    """A column that rows get on their way down: its value in the first rows, and in those under a row."""

    name: str
    first: exp.Expr
    next: exp.Expr


@dataclass
class _Hierarchy:
    """The rewriting of one SELECT over one table."""

    select: exp.Select
    dialect: str
    carried: dict[str, _Carried] = field(default_factory=dict)

    @cached_property
    def item(self) -> exp.Expr:
        """The table of FROM."""
        return self.select.args["from_"].this  # type: ignore[no-any-return]

    @cached_property
    def table(self) -> exp.Identifier:
        return named(self.item)

    @property
    def condition(self) -> exp.Expr:
        return self.select.args["connect"].args["connect"]  # type: ignore[no-any-return]

    def query(self) -> exp.Select:
        select, connect = self.select, self.select.args["connect"]
        for column in own(connect, exp.Column):
            if not column.table and column.name.lower() == "rownum":
                refuse(column, "ROWNUM in CONNECT BY is not supported", "write LEVEL")
        no_cycle = bool(connect.args.get("nocycle"))
        self._siblings()
        self._pseudocolumns()
        flags = list(self._flags(no_cycle))
        rows = self._rows(connect, no_cycle)
        with_ = exp.With(expressions=[exp.CTE(this=rows, alias=_alias(_CONNECTED))], recursive=True)
        prior = exp.to_identifier(_PRIOR)
        inner = exp.select(star_of(prior), *flags).from_(_connected())
        inner.set("with_", with_)
        names = [_LEVEL, *([_KEYS] if self._operands else []), *(each.name for each in self.carried.values())]
        hide(select, [*names, *(flag.alias for flag in flags)])
        select.set("connect", None)
        subquery = exp.Subquery(this=inner, alias=exp.TableAlias(this=self.table.copy()))
        select.set("from_", exp.From(this=subquery))
        return select

    # The recursion

    def _rows(self, connect: exp.Connect, no_cycle: bool) -> exp.Union:
        columns = list(self.carried.values())
        firsts, nexts = [each.first for each in columns], [each.next for each in columns]
        going = [self._below(self.condition)]
        if self._operands:
            key, keys = self._key(), exp.column(_KEYS, _PRIOR)
            loop = templates.sql("list_contains({0}, {1})", (keys, key))
            going.append(exp.Not(this=loop) if no_cycle else templates.sql(_LOOP, (loop, key)))
            firsts.insert(0, templates.sql("list_value({0})", (key,)))
            nexts.insert(0, templates.sql("list_append({0}, {1})", (keys, key)))
        names = [_LEVEL, *([_KEYS] if self._operands else []), *(each.name for each in columns)]
        base = exp.select(star_of(self.table), *_aliased(names, [exp.Literal.number(1), *firsts]))
        base = base.from_(self.item.copy())
        if connect.args.get("start") is not None:
            base = base.where(connect.args["start"].copy())
        step = exp.select(star_of(self.table), *_aliased(names, [_next_level(), *nexts]))
        step = step.from_(_connected()).join(self.item.copy(), join_type="CROSS").where(exp.and_(*going))
        return exp.union(base, step, distinct=False, copy=False)

    @cached_property
    def _operands(self) -> list[exp.Expr]:
        """What the condition asks of the row above."""
        priors = (prior for prior in own(self.condition, exp.Prior))
        return list({prior.this.sql(): prior.this for prior in priors}.values())

    def _key(self) -> exp.Expr:
        """The values of a row that PRIOR asks for, as a text."""
        operands = [self._of_row(operand.copy()) for operand in self._operands]
        texts = ", ".join(f"CAST({{{place}}} AS VARCHAR)" for place in range(len(operands)))
        return templates.sql(f"CAST(to_json(list_value({texts})) AS VARCHAR)", operands)

    def _of_row(self, expression: exp.Expr, level: exp.Expr | None = None) -> exp.Expr:
        """The expression over a row of the table."""
        holder = exp.Paren(this=expression)
        for column in list(own(holder, exp.Column)):
            if not column.table and column.name.lower() == _LEVEL:
                column.replace(level.copy() if level is not None else exp.Literal.number(1))
            elif not column.table:
                column.set("table", self.table.copy())
        return holder.this  # type: ignore[no-any-return]

    def _below(self, expression: exp.Expr) -> exp.Expr:
        """The expression over a row of the table and, with PRIOR, the row above it."""
        holder = exp.Paren(this=expression.copy())
        for prior in list(own(holder, exp.Prior)):
            for column in list(prior.find_all(exp.Column)):
                column.set("table", exp.to_identifier(_PRIOR))
            prior.replace(exp.Paren(this=prior.this))
        return self._of_row(holder, _next_level())

    # What the query asks of a row's way

    def _carry(self, node: exp.Expr, name: str, first: exp.Expr, step: exp.Expr) -> None:
        """Read the node from a column of the recursion."""
        key = node.sql(self.dialect)
        known = self.carried.setdefault(key, _Carried(f"{name}{len(self.carried)}#", first, step))
        node.replace(exp.column(known.name, self.table.copy()))

    def _siblings(self) -> None:
        """ORDER SIBLINGS BY: the places of the rows on the way among all rows of the table."""
        order = self.select.args.get("order")
        if order is None or not order.args.get("siblings"):
            return
        number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=order.expressions))
        rows = exp.select(exp.Star(), exp.alias_(number, _PLACE)).from_(self.item)
        self.item = exp.Subquery(this=rows, alias=exp.TableAlias(this=self.table.copy()))
        place, path = exp.column(_PLACE, self.table.copy()), exp.column(_PATH, _PRIOR)
        first = templates.sql("list_value({0})", (place,))
        self.carried[_PATH] = _Carried(_PATH, first, templates.sql("list_append({0}, {1})", (path, place)))
        hide(self.select, [_PLACE])
        down = exp.Order(expressions=[exp.Ordered(this=exp.column(_PATH, self.table.copy()))])
        down.meta[SIBLINGS] = True
        self.select.set("order", down)

    def _pseudocolumns(self) -> None:
        """Carry CONNECT_BY_ROOT, SYS_CONNECT_BY_PATH, and PRIOR outside of the condition."""
        self.select.set("expressions", [self._with_name(item) for item in self.select.expressions])
        connect = self.select.args["connect"]
        self.select.set("connect", None)
        for node in list(own(self.select, exp.ConnectByRoot)):
            root = self._of_row(node.this.copy())
            self._carry(node, "root", root, exp.column(f"root{len(self.carried)}#", _PRIOR))
        for call in list(own(self.select, exp.Anonymous)):
            if call.name.upper() == "SYS_CONNECT_BY_PATH":
                self._carry_path(call)
        for prior in list(own(self.select, exp.Prior)):
            nothing = templates.sql("nullif({0}, {0})", (self._of_row(prior.this.copy()),))
            self._carry(prior, "above", nothing, self._below(prior))
        self.select.set("connect", connect)

    def _carry_path(self, node: exp.Anonymous) -> None:
        if len(node.expressions) != 2:
            fail(InvalidQuery("SYS_CONNECT_BY_PATH takes a value and a separator"), node)
        value, separator = node.expressions
        last = exp.column(f"path{len(self.carried)}#", _PRIOR)
        first = templates.sql("concat({0}, {1})", (separator, self._of_row(value.copy())))
        step = templates.sql(
            "concat({0}, {1}, {2})", (last, separator, self._of_row(value.copy(), _next_level()))
        )
        self._carry(node, "path", first, step)

    def _with_name(self, item: exp.Expr) -> exp.Expr:
        """The item of the select list, under its own text if a column of the recursion takes its place."""
        calls = (exp.ConnectByRoot, exp.Prior, exp.Anonymous)
        if isinstance(item, exp.Alias) or next(own(item, *calls), None) is None:
            return item
        return exp.alias_(item, item.sql(self.dialect, comments=False).lower(), quoted=True)

    def _flags(self, no_cycle: bool) -> Iterator[exp.Expr]:
        """CONNECT_BY_ISLEAF and CONNECT_BY_ISCYCLE, where the query asks for them: whether a row has rows
        below it, and whether one of these closes a loop."""
        asked = {
            column.name.lower(): column for column in self.select.find_all(exp.Column) if not column.table
        }
        below = self._below(self.condition)
        loop = None
        if self._operands:
            loop = templates.sql("list_contains({0}, {1})", (exp.column(_KEYS, _PRIOR), self._key()))
        if _IS_LEAF in asked:
            test = exp.and_(below, exp.not_(loop)) if loop is not None and no_cycle else below
            yield exp.alias_(
                templates.sql("CASE WHEN {0} THEN 0 ELSE 1 END", (self._exists(test),)), _IS_LEAF
            )
        if _IS_CYCLE in asked:
            if not no_cycle:
                fail(InvalidQuery("CONNECT_BY_ISCYCLE needs NOCYCLE", _NO_CYCLE), asked[_IS_CYCLE])
            test = exp.and_(below, loop) if loop is not None else exp.false()
            yield exp.alias_(
                templates.sql("CASE WHEN {0} THEN 1 ELSE 0 END", (self._exists(test),)), _IS_CYCLE
            )

    def _exists(self, test: exp.Expr) -> exp.Exists:
        return exp.Exists(this=exp.select("1").from_(self.item.copy()).where(test))


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name))


def _connected() -> exp.Table:
    """The rows so far, each as the one above."""
    return exp.Table(this=exp.to_identifier(_CONNECTED), alias=_alias(_PRIOR))


def _next_level() -> exp.Expr:
    return exp.Paren(this=exp.Add(this=exp.column(_LEVEL, _PRIOR), expression=exp.Literal.number(1)))


def _aliased(names: list[str], values: list[exp.Expr]) -> list[exp.Expr]:
    return [exp.alias_(value, name) for name, value in zip(names, values, strict=True)]
