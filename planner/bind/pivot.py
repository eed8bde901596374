"""PIVOT and UNPIVOT, rewritten as the queries that they stand for.

    t PIVOT (sum(x) FOR k IN ('a', 'b'))   →   SELECT g, sum(x) FILTER (WHERE k = 'a') AS a, ... GROUP BY g
    t UNPIVOT (v FOR k IN (a, b))          →   SELECT g, 'a' AS k, a AS v WHERE a IS NOT NULL UNION ALL ...

The columns of a plan do not depend on data: values that are left to the data have been written out before
(`planner/rewriting/open_pivots.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlglot import exp

from planner.bind.refuse import refuse_unsupported
from planner.errors import InvalidQuery
from planner.positions import fail, refuse
from planner.rewriting.open_pivots import has_values, pivot_fields


def pivoted(
    source: exp.Expression, pivot: exp.Pivot, columns: Sequence[str], dialect: str
) -> exp.Select | exp.Union:
    """The query for `pivot` over the table `source` with the given `columns`."""
    if pivot.args.get("unpivot"):
        query = _unpivoted(source, pivot, columns)
        return _with_values_first(query) if dialect == "bigquery" else query
    fields = pivot_fields(pivot)
    if not fields:
        fail(InvalidQuery("PIVOT has no key", "write PIVOT table ON key USING sum(x)"), pivot)
    aggregates = pivot.args.get("using") or (
        [exp.Count(this=exp.Star())] if pivot.this else pivot.expressions
    )
    for field in fields:
        if not has_values(field):
            key = field.this if isinstance(field, exp.In) else field
            values = exp.select(key.copy()).distinct().from_(source.copy()).order_by("1").sql(dialect)
            hint = f"make it a view of its own, or write the values: IN (...); {values} lists them"
            refuse_unsupported("PIVOT without its values", field, hint)
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
    if not keys and not items:
        hint = "GROUP BY a column, or let there be rows first"
        fail(InvalidQuery("the PIVOT has no columns, because it has no values yet", hint), pivot)
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
        names = [v for e in pivot.expressions for v in (e.expressions if isinstance(e, exp.Tuple) else [e])]
        label, values, listed = field.this.name, [v.name for v in names], field.expressions
    if len(listed) == 1 and isinstance(listed[0], exp.Columns) and listed[0].this.is_star:
        listed = [_column(column) for column in _starred(listed[0], columns)]
    if any(len(_sources(part)) != len(values) for part in listed):
        fail(InvalidQuery(f"UNPIVOT into {len(values)} columns lists that many each time"), pivot)
    taken = {source.name.lower() for part in listed for source in _sources(part)}
    missing = taken - {column.lower() for column in columns}
    if missing:
        fail(InvalidQuery(f'UNPIVOT names column "{min(missing)}", which does not exist'), pivot)
    kept = [column for column in columns if column.lower() not in taken]
    parts = [_row(source, part, kept, label, values, pivot) for part in listed]
    query: exp.Select | exp.Union = parts[0]
    for part in parts[1:]:
        query = exp.union(query, part, distinct=False, copy=False)
    return query


def _starred(listed: exp.Columns, columns: Sequence[str]) -> list[str]:
    """The columns that COLUMNS(* EXCLUDE (...)) names."""
    if listed.this.args.get("replace") or listed.this.args.get("rename"):
        refuse(listed, "REPLACE and RENAME in UNPIVOT are not supported", "EXCLUDE is")
    without = {part.name.lower() for part in listed.this.args.get("except_") or ()}
    return [column for column in columns if column.lower() not in without]


def _with_values_first(query: exp.Select | exp.Union) -> exp.Select | exp.Union:
    """UNPIVOT's query with the names of the columns behind their values."""
    for select in query.find_all(exp.Select):
        *kept, label, value = select.expressions
        if isinstance(label.unalias(), exp.Literal):
            select.set("expressions", [*kept, value, label])
    return query


def _row(
    source: exp.Expression,
    part: exp.Expression,
    kept: list[str],
    label: str,
    values: Sequence[str],
    pivot: exp.Pivot,
) -> exp.Select:
    """The rows of one column, or of several side by side."""
    taken = _sources(part)
    name = exp.Literal.string(part.alias or "_".join(column.name for column in taken))
    query = exp.select(
        *map(_column, kept),
        exp.alias_(name, label, quoted=True),
        *(exp.alias_(column.copy(), value, quoted=True) for column, value in zip(taken, values, strict=True)),
    ).from_(source.copy())
    if pivot.args.get("include_nulls"):
        return query
    tests = (exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())) for column in taken)
    return query.where(exp.and_(*tests))


def _sources(part: exp.Expression) -> list[exp.Expression]:
    """The columns that one part of UNPIVOT lists."""
    column = part.this if isinstance(part, exp.PivotAlias | exp.Alias) else part
    return column.expressions if isinstance(column, exp.Tuple) else [column]


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
