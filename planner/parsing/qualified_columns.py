"""Columns with a schema before the table's name: `analytics.orders.id` means the table of FROM that has no
alias and is called `analytics.orders`. The schema is checked, then left out, so that nothing after the parser
knows it."""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery, UnknownTable
from planner.identifiers import fold, relation_name, schema_name
from planner.positions import fail
from planner.relation_names import PUBLIC, full_name

_SCOPES = (exp.Select, exp.Insert, exp.Update, exp.Delete, exp.Merge)


def without_schemas(tree: exp.Expression) -> exp.Expression:
    """Leaves out the schemas of columns. Raises UnknownTable or InvalidQuery for one that is no table's."""
    if isinstance(tree, exp.Comment):
        return tree
    for column in tree.find_all(exp.Column):
        if column.args.get("db") is not None:
            _check(column)
            column.set("db", None)
            column.set("catalog", None)
    return tree


def _check(column: exp.Column) -> None:
    """Raises an error unless the nearest table of the column's name is the one that it means."""
    meant = full_name(schema_name(column) or PUBLIC, fold(column.args["table"]))
    scope = column.find_ancestor(*_SCOPES)
    while scope is not None:
        for table in _tables(scope):
            if table.alias_or_name.lower() != column.table.lower():
                continue
            if not table.alias and relation_name(table) == meant:
                return
            name = table.alias_or_name
            hint = f"{name} is {'an alias' if table.alias else relation_name(table)} here: write {name} alone"
            fail(InvalidQuery(f"{column.sql()} names a table that FROM does not have", hint), column)
        scope = scope.find_ancestor(*_SCOPES)
    fail(UnknownTable(f'no table "{meant}" is visible here', "name the table in FROM"), column)


def _tables(scope: exp.Expr) -> list[exp.Table]:
    """The tables of a query's own FROM, or those of a statement that changes rows."""
    found = (table for table in scope.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    return [table for table in found if table.find_ancestor(*_SCOPES) is scope]
