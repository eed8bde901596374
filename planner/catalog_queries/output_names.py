"""The names of output columns that a rewriting replaces. All others have theirs since they were parsed."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp


def name_outputs(query: exp.Expression, is_replaced: Callable[[exp.Column], bool]) -> None:
    """Let every column of a SELECT that is replaced keep its name."""
    for select in query.find_all(exp.Select):
        for item in list(select.expressions):
            if isinstance(item, exp.Column) and not item.is_star and is_replaced(item):
                named = exp.Alias(alias=exp.to_identifier(item.name, quoted=True))
                item.replace(named)
                named.set("this", item)


def name_groups(query: exp.Expression) -> None:
    """Give names in GROUP BY and ORDER BY that an output column has, and a table too, the column's number.

    To PostgreSQL they mean the column, to DuckDB the table's row.
    """
    for select in query.find_all(exp.Select):
        places = {item.alias: place for place, item in enumerate(select.expressions, 1)}
        sources = {table.alias for table in select.find_all(exp.Table) if table.parent_select is select}
        clauses = (select.args.get(part) for part in ("group", "order"))
        for name in [n for clause in clauses if clause is not None for n in clause.find_all(exp.Column)]:
            if not name.table and name.name in sources and name.name in places:
                name.replace(exp.Literal.number(places[name.name]))
