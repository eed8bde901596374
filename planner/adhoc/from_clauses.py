"""FROM clauses of ad-hoc queries, rewritten so that DuckDB reads them as a view's FROM is read.

Unnested lists become LATERAL subqueries, with the ordinal column and the rows for empty lists that their
dialect defines. `*` over columns merged by USING or NATURAL is written out where its order differs from
DuckDB's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlglot import exp

from engine.plan.expressions import ColumnRef
from engine.plan.nodes import Source
from engine.schema import Schema
from planner.bind import bind
from planner.bind.expressions.merged_columns import written_column
from planner.bind.lists import ElementTable, rows_of
from planner.bind.name_scope import NameScope
from planner.bind.stars import OutputColumn
from planner.dialects.traits import Trait, has
from planner.errors import Unsupported
from planner.positions import fail
from planner.relation import Relation


class Known(Protocol):
    """A known relation."""

    @property
    def schema(self) -> Schema: ...

    @property
    def period(self) -> tuple[int, int] | None: ...


Relations = Mapping[str, Known]


def with_plain_rows(query: exp.Expression, dialect: str) -> None:
    """Replace every unnested list in the query's FROM clauses with a subquery."""
    items: list[exp.Expression] = list(query.find_all(exp.Lateral, exp.Unnest, exp.Table))
    for node in items:
        rows = rows_of(node, dialect) if _is_item(node) else None
        if rows is None:
            continue
        joins = node.args.get("joins")
        if node.parent is not None and node.arg_key == "laterals":
            node.parent.append("joins", _joined(rows))
        else:
            table = _table(rows)
            node.replace(exp.Table(this=table, joins=joins) if joins else table)
    for select in query.find_all(exp.Select):
        select.set("laterals", None)


def _is_item(node: exp.Expression) -> bool:
    """Whether the node is a whole item of FROM, not a part of one or a wrapper around one."""
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Lateral | exp.Unnest):
        return False
    around = isinstance(node.parent, exp.From | exp.Join | exp.Table | exp.Subquery)
    return around or node.arg_key == "laterals"


def _joined(rows: ElementTable) -> exp.Join:
    """A LATERAL VIEW as a join."""
    if rows.outer:
        return exp.Join(this=_table(rows), side="LEFT", on=exp.true())
    return exp.Join(this=_table(rows), kind="CROSS")


def _table(rows: ElementTable) -> exp.Expression:
    """SELECT unnest(list) AS name, ..., unnest(range(...)) AS place; LATERAL if it reads other tables."""
    lists = [_list(node) for node in rows.lists]
    elements = [_named(_call("unnest", each), name) for each, name in zip(lists, rows.names, strict=True)]
    if rows.place is not None:
        longest = exp.Greatest(this=_length(lists[0]), expressions=[_length(each) for each in lists[1:]])
        end = exp.Add(this=longest, expression=exp.Literal.number(rows.first))
        place = _named(_call("unnest", _call("range", exp.Literal.number(rows.first), end)), rows.place)
        elements = [place, *elements] if rows.leads else [*elements, place]
    query = exp.Select(expressions=elements)
    given = rows.node.args.get("alias")
    alias = given.copy() if isinstance(given, exp.TableAlias) else None
    if rows.node.find(exp.Column, exp.Query) is None:
        return exp.Subquery(this=query, alias=alias)
    return exp.Lateral(this=exp.Subquery(this=query), alias=alias)


def _list(node: exp.Expression) -> exp.Expression:
    """A list as a value; a function that generates a series of rows generates a list too."""
    if isinstance(node, exp.ExplodingGenerateSeries):
        return exp.GenerateSeries(**{part: value.copy() for part, value in node.args.items() if value})
    return node.copy()


def _length(node: exp.Expression) -> exp.Expression:
    return exp.Coalesce(this=_call("len", node.copy()), expressions=[exp.Literal.number(0)])


def _call(name: str, *arguments: exp.Expression) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _named(value: exp.Expression, name: str) -> exp.Alias:
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def with_plain_names(query: exp.Expression, relations: Relations, dialect: str) -> None:
    """Write out the names that DuckDB would resolve to other columns.

    They are `*` over merged columns, where the dialect orders them otherwise, and names of an outer query's
    columns that are also names of the select list, which DuckDB prefers.
    """
    if dialect == "duckdb":
        return
    selects = list(query.find_all(exp.Select))
    starred = [place for place, select in enumerate(selects) if _is_reordered(select, dialect)]
    doubtful = [(place, column) for place, select in enumerate(selects) for column in _doubtful(select)]
    if not starred and not doubtful:
        return
    plain = query.copy()
    for table in plain.find_all(exp.Table):
        table.set("version", None)
        table.set("when", None)
    copies = list(plain.find_all(exp.Select))
    bound = bind(plain, catalog_of(relations), dialect)
    written = [bound.lists.get(id(copy)) for copy in copies]
    for place in starred:
        found = written[place]
        if found is not None:
            columns = [_output(output, found.scope, bound.merged) for output in found.outputs]
            selects[place].set("expressions", columns)
    for place, column in doubtful:
        found = written[place]
        if found is not None:
            _qualify(column, found.scope, bound.merged)


def catalog_of(relations: Relations) -> Mapping[str, Relation]:
    """The relations as the binder knows them."""
    return {
        name: Relation(name, known.schema, Source(name, known.schema)) for name, known in relations.items()
    }


def _doubtful(select: exp.Select) -> list[exp.Column]:
    """Unqualified names in WHERE of an inner query that its select list gives to another value."""
    where = select.args.get("where")
    if where is None or select.parent_select is None:
        return []
    given = {e.alias.lower() for e in select.expressions if isinstance(e, exp.Alias)}
    return [
        column for column in where.find_all(exp.Column) if not column.table and column.name.lower() in given
    ]


def _qualify(column: exp.Column, scope: NameScope, merged: Mapping[int, tuple[int, int]]) -> None:
    """Put the table's name before the name of an outer query's column."""
    if scope.local(column) is not None:
        return
    for outer in scope.chain()[1:]:
        attribute = outer.local(column)
        if attribute is not None:
            qualified = written_column(attribute.id, outer, merged)
            if qualified is not None:
                column.replace(qualified)
            return


def _is_reordered(select: exp.Select, dialect: str) -> bool:
    """Whether the select list has a star over merged columns that DuckDB places elsewhere."""
    if has(dialect, Trait.MERGES_IN_PLACE):
        return False
    stars = any(part.find(exp.Star) for part in select.expressions)
    clause = [select.args.get("from_"), *(select.args.get("joins") or ())]
    joins = (join for part in clause if part is not None for join in part.find_all(exp.Join))
    return stars and any(join.args.get("using") or join.method == "NATURAL" for join in joins)


def _output(output: OutputColumn, scope: NameScope, merged: Mapping[int, tuple[int, int]]) -> exp.Expression:
    """A column of the list, under its name."""
    if not isinstance(output.value, ColumnRef):
        node = output.node
        return node if isinstance(node, exp.Alias) else _named(node, output.name)
    value = written_column(output.value.index, scope, merged)
    if value is None:
        error = Unsupported("* over tables without a name is not supported here", "give each table an alias")
        fail(error, output.node)
    return _named(value, output.name)
