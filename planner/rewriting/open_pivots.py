"""PIVOT whose values come from data: the queries that list them, and the same PIVOT with values written out.

    PIVOT t ON k USING sum(x)                →   PIVOT t ON CAST(k AS VARCHAR) IN ('a', 'b') USING sum(x)
    t PIVOT (sum(x) FOR k IN (ANY))              t PIVOT (sum(x) FOR CAST(k AS VARCHAR) IN ('a', 'b'))
    t PIVOT (sum(x) FOR k IN (SELECT ...))

A list has distinct texts without NULL, in their own order if no other is given, as DuckDB's statement has
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from planner.limits import check_columns
from planner.native.templates import with_parts
from planner.positions import refuse

PivotLists = tuple[tuple[str, ...], ...]
"""The values of each open key of a query, in the order of `open_keys`."""
_VALUE = exp.to_identifier("v")
_CLOSED = "closed"


@dataclass(frozen=True, eq=False)
class OpenKey:
    """The key of a PIVOT whose values are open: the node that stands for it, and `values`, a query of its
    distinct texts."""

    pivot: exp.Pivot
    node: exp.Expression
    key: exp.Expression
    values: exp.Select


def open_keys(query: exp.Expression) -> Iterator[OpenKey]:
    """The open keys of a query, each before those over it. Replace the node of each before the next one is
    made, so that the values of that are over what has taken its place."""
    for pivot in reversed(list(query.find_all(exp.Pivot))):
        if pivot.args.get("unpivot"):
            continue
        for key, source, order in _keys(pivot):
            node = key.parent if isinstance(key.parent, exp.In) else key
            values = _values(key if source is not None else exp.column("v"), source or _listed(node), order)
            with_ = _with(pivot)
            if with_ is not None:
                values.set("with_", with_)
            yield OpenKey(pivot, node, key, values)


def list_query(keys: Sequence[OpenKey]) -> exp.Select | exp.Union:
    """A query of the columns `i`, `v` and `r`: the values of the i-th key, in the order of `r` and of their
    texts. It takes the keys' queries apart."""
    parts: list[exp.Select] = []
    for i, open_key in enumerate(keys):
        values = open_key.values
        order = values.args.get("order")
        values.set("order", None)
        is_own = order is None or order.expressions[0].this == exp.column(_VALUE)
        rank = exp.Literal.number(0) if is_own else exp.Window(this=exp.RowNumber(), order=order)
        values.set("expressions", [*values.expressions, exp.alias_(rank, "r")])
        number = exp.alias_(exp.Literal.number(i), "i")
        parts.append(exp.select(number, "v", "r").from_(values.subquery("q")))
    return parts[0] if len(parts) == 1 else exp.union(*parts, distinct=False)


def lists_of(rows: Iterable[tuple[int, str, int]], keys: int) -> PivotLists:
    """The lists of so many keys, as rows of their `list_query`."""
    lists: list[dict[str, None]] = [{} for _ in range(keys)]
    for key, value, _ in sorted(rows, key=lambda row: (row[0], row[2], row[1].encode())):
        lists[key][value] = None
    return tuple(map(tuple, lists))


def with_values(query: exp.Expression, lists: PivotLists) -> None:
    """Write out the values of the open keys, in the tree itself. Raises TooManyColumns."""
    for open_key, values in zip(open_keys(query), lists, strict=True):
        text = exp.Cast(this=open_key.key.copy(), to=exp.DataType.build("VARCHAR"))
        written = exp.In(this=text, expressions=[exp.Literal.string(value) for value in values])
        written.meta[_CLOSED] = True
        open_key.node.replace(written)
        open_key.pivot.set("columns", None)
        fields = pivot_fields(open_key.pivot)
        check_columns(prod(len(field.expressions) for field in fields if has_values(field)))


def pivot_fields(pivot: exp.Pivot) -> Sequence[exp.In]:
    """What a PIVOT makes columns of: keys IN their values, or keys alone whose values are open."""
    return pivot.args.get("fields") or pivot.expressions


def has_values(field: exp.Expression) -> bool:
    """Whether the values of a key are written out, maybe none."""
    if not isinstance(field, exp.In) or field.find(exp.PivotAny, exp.Query):
        return False
    return bool(field.expressions) or _CLOSED in field.meta


def _keys(pivot: exp.Pivot) -> Iterator[tuple[exp.Expression, exp.Expression | None, exp.Expression | None]]:
    """The open keys of a PIVOT, with the table that has their values, None if a query has them, and with the
    order that is given."""
    if pivot.this is not None:
        for key in pivot.expressions:
            if not isinstance(key, exp.In | exp.Alias):
                yield key, pivot.this, None
        return
    for field in pivot.args.get("fields") or ():
        match field.expressions:
            case [exp.PivotAny(this=order)]:
                yield field.this, _before(pivot), order
            case [exp.Query()]:
                yield field.this, None, None


def _listed(field: exp.Expression) -> exp.Subquery:
    """The query in the place of the values, with the name v for its column."""
    inner = exp.Subquery(this=field.expressions[0].unnest().copy())
    inner.set("alias", exp.TableAlias(this=exp.to_identifier("q"), columns=[_VALUE.copy()]))
    return inner


def _before(pivot: exp.Pivot) -> exp.Expression:
    """The table that is pivoted, with the pivots before this one."""
    table = pivot.parent
    if table is None:
        raise ValueError("a PIVOT stands behind a table")
    source = with_parts(
        table, joins=None, pivots=[each.copy() for each in table.args["pivots"] if each is not pivot]
    )
    if len(table.args["pivots"]) > 1:
        refuse(pivot, "several PIVOTs of one table are not supported", "write a query for each")
    return source  # type: ignore[return-value]


def _values(key: exp.Expression, source: exp.Expression, order: exp.Expression | None) -> exp.Select:
    """The distinct texts of a key, in their own order if no other is given."""
    text = exp.Cast(this=key.copy(), to=exp.DataType.build("VARCHAR"))
    query = exp.select(exp.alias_(text, _VALUE.copy())).from_(source.copy())
    given = exp.Not(this=exp.Is(this=exp.paren(key.copy(), copy=False), expression=exp.Null()))
    query = query.where(given).group_by(key.copy())
    if order is None:
        return query.order_by("v")
    query.set("order", order.copy())
    return query


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
