"""PIVOT whose values come from data, in an ad-hoc query: a list of values that is made before the query runs.

    PIVOT t ON k USING sum(x)   →   PIVOT t ON k IN "pivot#0" USING sum(x)
                                    "pivot#0": SELECT DISTINCT CAST(k AS VARCHAR) FROM t

The list is an enumeration of texts, in their order and without NULL, as that of DuckDB's own statement.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.errors import Unsupported
from planner.positions import fail


@dataclass(frozen=True)
class PivotList:
    """The values that the query `sql` gives in its one column stand under `name`."""

    name: str
    sql: str


def with_pivot_lists(query: exp.Expression) -> tuple[PivotList, ...]:
    """Name the lists of each PIVOT that leaves its values open; in the order in which they can be made.
    Changes the tree, which is DuckDB's."""
    lists: list[PivotList] = []
    for pivot in reversed(list(query.find_all(exp.Pivot))):
        if pivot.args.get("unpivot"):
            continue
        if pivot.this is not None:
            for key in pivot.expressions:
                if not isinstance(key, exp.In | exp.Alias):
                    key.replace(_named(lists, key, _values(key, pivot.this), pivot))
            continue
        for field in pivot.args.get("fields") or ():
            match field.expressions:
                case [exp.PivotAny(this=order)]:
                    values = _values(field.this, _before(pivot), order)
                    field.replace(_named(lists, field.this, values, pivot))
                case [exp.Query() as values]:
                    inner = exp.Subquery(this=values.unnest().copy())
                    inner.set("alias", exp.TableAlias(this=exp.to_identifier("q"), columns=[_NAME.copy()]))
                    field.replace(_named(lists, field.this, _values(exp.column("v"), inner), pivot))
    return tuple(lists)


_NAME = exp.to_identifier("v")


def _before(pivot: exp.Pivot) -> exp.Expression:
    """The table that is pivoted, with the pivots before this one."""
    table = pivot.parent
    if table is None:
        raise ValueError("a PIVOT stands behind a table")
    source = table.copy()
    source.set("joins", None)
    source.set("pivots", [each.copy() for each in table.args["pivots"] if each is not pivot])
    if len(table.args["pivots"]) > 1:
        fail(Unsupported("several PIVOTs of one table are not supported", "write a query for each"), pivot)
    return source  # type: ignore[return-value]


def _values(key: exp.Expression, source: exp.Expression, order: exp.Expr | None = None) -> exp.Select:
    """The distinct texts of a key, in their own order if no other is given."""
    text = exp.Cast(this=key.copy(), to=exp.DataType.build("VARCHAR"))
    query = exp.select(exp.alias_(text, _NAME.copy())).from_(source.copy())
    given = exp.Not(this=exp.Is(this=exp.paren(key.copy(), copy=False), expression=exp.Null()))
    query = query.where(given).group_by(key.copy())
    if order is None:
        return query.order_by("v")
    query.set("order", order.copy())
    return query


def _named(lists: list[PivotList], key: exp.Expression, values: exp.Select, pivot: exp.Pivot) -> exp.In:
    """The key with the name of the list of these values, which is added."""
    with_ = _with(pivot)
    if with_ is not None:
        values.set("with_", with_)
    name = f"pivot#{len(lists)}"
    lists.append(PivotList(name, values.sql("duckdb", comments=False)))
    whole = exp.Paren(this=key.copy()) if isinstance(key, exp.Binary) else key.copy()
    pivot.set("columns", None)
    return exp.In(this=whole, field=exp.column(exp.to_identifier(name, quoted=True)))


def _with(pivot: exp.Pivot) -> exp.With | None:
    """What WITH makes visible where the PIVOT stands."""
    ctes: list[exp.Expression] = []
    recursive = False
    node: exp.Expr | None = pivot
    while node is not None:
        around = node.parent
        found = around.args.get("with_") if around is not None else None
        if isinstance(around, exp.With):
            place = next(i for i, cte in enumerate(around.expressions) if cte is node)
            ctes = [*(cte.copy() for cte in around.expressions[:place]), *ctes]
            recursive = recursive or bool(around.recursive)
        elif found is not None and found is not node:
            ctes = [*(cte.copy() for cte in found.expressions), *ctes]
            recursive = recursive or bool(found.recursive)
        node = around
    return exp.With(expressions=ctes, recursive=recursive) if ctes else None
