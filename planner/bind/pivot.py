"""PIVOT and UNPIVOT, rewritten as the queries that they stand for.

    t PIVOT (sum(x) FOR k IN ('a', 'b'))   →   SELECT g, sum(x) FILTER (WHERE k = 'a') AS a, ... GROUP BY g
    t UNPIVOT (v FOR k IN (a, b))          →   SELECT g, 'a' AS k, a AS v WHERE a IS NOT NULL UNION ALL ...

The columns of a view must not depend on data, so a PIVOT lists its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlglot import exp

from planner.bind.refuse import refuse_unsupported
from planner.errors import InvalidQuery
from planner.positions import fail


def pivoted(source: exp.Expression, pivot: exp.Pivot, columns: Sequence[str]) -> exp.Select | exp.Union:
    """The query for `pivot` over the table `source` with the given `columns`."""
    if pivot.args.get("unpivot"):
        return _unpivoted(source, pivot, columns)
    aggregates = pivot.args.get("using") or pivot.expressions
    fields = pivot.args.get("fields") or pivot.expressions
    for field in fields:
        if not isinstance(field, exp.In) or not field.expressions:
            refuse_unsupported("PIVOT without its values", field, "write the values: IN (...)")
    cells = list(product(*(field.expressions for field in fields), aggregates))
    names = [name.name for name in pivot.args.get("columns") or ()] or [
        _name(cell, aggregates) for cell in cells
    ]
    if len(names) != len(cells):
        refuse_unsupported("this form of PIVOT", pivot)
    used = {c.name.lower() for part in (*fields, *aggregates) for c in part.find_all(exp.Column)}
    group = pivot.args.get("group")
    keys = list(group.expressions) if group else [_column(c) for c in columns if c.lower() not in used]
    default = pivot.args.get("default_on_null") or None
    items = [_cell(cell, fields, name, default) for cell, name in zip(cells, names, strict=True)]
    query = exp.select(*(key.copy() for key in keys), *items).from_(source.copy())
    return query.group_by(*(key.copy() for key in keys)) if keys else query


def _cell(
    cell: tuple[exp.Expression, ...], fields: Sequence[exp.In], name: str, default: exp.Expression | None
) -> exp.Expression:
    """An aggregate of the rows that have the cell's values; `default` stands for NULL."""
    *values, aggregate = cell
    tests = [exp.EQ(this=f.this.copy(), expression=_value(v)) for f, v in zip(fields, values, strict=True)]
    function = aggregate.unalias().copy()
    filtered: exp.Expression = exp.Filter(this=function, expression=exp.Where(this=exp.and_(*tests)))
    if default is not None:
        filtered = exp.Coalesce(this=filtered, expressions=[default.copy()])
    return exp.Alias(this=filtered, alias=exp.to_identifier(name, quoted=True))


def _value(node: exp.Expression) -> exp.Expression:
    """A value of a PIVOT; T-SQL writes it as a name."""
    value = node.this if isinstance(node, exp.PivotAlias) else node
    return exp.Literal.string(value.name) if isinstance(value, exp.Column) else value.copy()


def _name(cell: tuple[exp.Expression, ...], aggregates: Sequence[exp.Expression]) -> str:
    """DuckDB's name for the column."""
    *values, aggregate = cell
    parts = [value.alias or value.name for value in values]
    if aggregate.alias or len(aggregates) > 1:
        parts.append(aggregate.alias or aggregate.sql("duckdb", normalize_functions="lower"))
    return "_".join(parts)


def _unpivoted(source: exp.Expression, pivot: exp.Pivot, columns: Sequence[str]) -> exp.Select | exp.Union:
    into = pivot.args.get("into")
    if into is not None:
        label, values, listed = into.this.name, [v.name for v in into.expressions], pivot.expressions
    else:
        field = pivot.args["fields"][0]
        label, values, listed = field.this.name, [v.name for v in pivot.expressions], field.expressions
    if len(values) != 1 or any(isinstance(part.unalias(), exp.Tuple) for part in listed):
        refuse_unsupported("UNPIVOT into several columns", pivot)
    taken = {
        part.name.lower() if not isinstance(part, exp.PivotAlias) else part.this.name.lower()
        for part in listed
    }
    missing = taken - {column.lower() for column in columns}
    if missing:
        fail(InvalidQuery(f'UNPIVOT names column "{min(missing)}", which does not exist'), pivot)
    kept = [column for column in columns if column.lower() not in taken]
    parts = [_row(source, part, kept, label, values[0], pivot) for part in listed]
    query: exp.Select | exp.Union = parts[0]
    for part in parts[1:]:
        query = exp.union(query, part, distinct=False, copy=False)
    return query


def _row(
    source: exp.Expression, part: exp.Expression, kept: list[str], label: str, value: str, pivot: exp.Pivot
) -> exp.Select:
    """The rows of one column."""
    column = part.this if isinstance(part, exp.PivotAlias) else part
    name = exp.Literal.string(part.alias or column.name)
    query = exp.select(
        *map(_column, kept),
        exp.alias_(name, label, quoted=True),
        exp.alias_(column.copy(), value, quoted=True),
    ).from_(source.copy())
    if pivot.args.get("include_nulls"):
        return query
    return query.where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
