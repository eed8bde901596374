"""RETURNING: a query over the rows that a statement has changed."""

from __future__ import annotations

from sqlglot import exp

from engine.schema import Schema
from planner.adhoc.adhoc_query import AdhocQuery, ChangeTarget, adhoc_query
from planner.adhoc.dml_queries import row_column
from planner.adhoc.from_clauses import Relations
from planner.rewriting.valid_times import valid_clause


def returning_query(tree: exp.Expression, schema: Schema, relations: Relations) -> AdhocQuery | None:
    """The query for the rows that a statement returns, in the table's order; None without RETURNING."""
    returning = tree.args.get("returning")
    if returning is None:
        return None
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    table = table.copy()
    table.set("joins", None)
    if valid_clause(table) is not None:
        table.set("version", None)
    alias = table.alias or table.name
    row = row_column(schema)
    expressions = [
        column.copy()
        for expression in returning.expressions
        for column in (_every(alias, schema) if expression.is_star else [expression])
    ]
    select = exp.Select(expressions=expressions)
    select.set("from_", exp.From(this=table))
    order = exp.column(exp.to_identifier(row, quoted=True), table=exp.to_identifier(alias, quoted=True))
    select.set("order", exp.Order(expressions=[exp.Ordered(this=order, nulls_first=False)]))
    return adhoc_query(select, relations, ChangeTarget(table, row))


def _every(alias: str, schema: Schema) -> list[exp.Expression]:
    """The columns that `*` stands for."""
    table = exp.to_identifier(alias, quoted=True)
    return [exp.column(exp.to_identifier(name, quoted=True), table=table) for name in schema.names]
