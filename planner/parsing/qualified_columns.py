"""Columns with a schema before the table's name: `analytics.orders.id` means the table of FROM that has no
alias and is called `analytics.orders`. The schema is checked, then left out, so that nothing after the parser
knows it."""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.identifiers import fold, parts_of, relation_name
from planner.positions import fail
from planner.relation_names import PUBLIC, full_name, schema_named

_SCOPES = (exp.Select, exp.Insert, exp.Update, exp.Delete, exp.Merge)


def without_schemas(tree: exp.Expression) -> exp.Expression:
    """Leaves out the schemas of columns. Raises InvalidQuery for one that is not the table's.

    A name that begins with no schema of a table is left as it is: it may be that of a struct's field.
    """
    if isinstance(tree, exp.Comment):
        return tree
    for column in list(tree.find_all(exp.Column)):
        if column.args.get("db") is not None:
            _resolve(column)
    return tree


def _resolve(column: exp.Column) -> None:
    """Leaves out the schema of a column, and the database before it, if it has them."""
    names = parts_of(column)
    tables = _visible(column)
    named: list[exp.Table] = []
    for place in range(1, len(names) - (not isinstance(column.this, exp.Star))):
        nearest = next((t for t in tables if t.alias_or_name.lower() == names[place].name.lower()), None)
        if nearest is not None and not nearest.alias and relation_name(nearest) == _relation(names, place):
            _shorten(column, names[place:])
            return
        named += [nearest] if nearest is not None else []
    if named and all(t.alias_or_name.lower() != names[0].name.lower() for t in tables):
        nearest, name = named[0], named[0].alias_or_name
        hint = f"{name} is {'an alias' if nearest.alias else relation_name(nearest)} here: write {name} alone"
        fail(InvalidQuery(f"{column.sql()} names a table that FROM does not have", hint), column)


def _relation(names: list[exp.Identifier], place: int) -> str:
    """The full name of the relation at a place among names, by those before it."""
    return full_name(schema_named([fold(name) for name in names[:place]]) or PUBLIC, fold(names[place]))


def _shorten(column: exp.Column, names: list[exp.Identifier]) -> None:
    """Makes the column that of a table, or a field of it, by these names; a star stays one."""
    table, *inside = names
    for part, value in (("catalog", None), ("db", None), ("table", table)):
        column.set(part, value)
    if not inside:
        return
    column.set("this", inside[0])
    whole: exp.Expression = column.copy()
    for field in inside[1:]:
        whole = exp.Dot(this=whole, expression=field)
    if len(inside) > 1:
        column.replace(whole)


def _visible(column: exp.Column) -> list[exp.Table]:
    """The tables around a column, the nearest first."""
    found: list[exp.Table] = []
    scope = column.find_ancestor(*_SCOPES)
    while scope is not None:
        found += _tables(scope)
        scope = scope.find_ancestor(*_SCOPES)
    return found


def _tables(scope: exp.Expr) -> list[exp.Table]:
    """The tables of a query's own FROM, or those of a statement that changes rows."""
    found = (table for table in scope.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    return [table for table in found if table.find_ancestor(*_SCOPES) is scope]
