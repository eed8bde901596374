"""Names as in the catalog: a quoted name as written, any other in lower case, in every dialect."""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.positions import fail
from planner.relation_names import PUBLIC, full_name, schema_named, split_name


def fold(identifier: exp.Identifier) -> str:
    return identifier.this if identifier.args.get("quoted") else identifier.this.lower()


def relation_name(node: exp.Expression) -> str:
    """The full name of a table or view; a name without a schema is one of `public`."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        fail(InvalidQuery(f"{node.sql()} is not the name of a table or view"), node)
    return full_name(schema_name(node) or PUBLIC, fold(node.this))


def relation_node(full: str) -> exp.Table:
    """The name of a table or view in a statement."""
    schema, name = split_name(full)
    before = None if schema == PUBLIC else exp.to_identifier(schema, quoted=True)
    return exp.Table(this=exp.to_identifier(name, quoted=True), db=before)


def schema_name(node: exp.Table | exp.Column) -> str | None:
    """The schema that stands in a name, None if none does."""
    before = (node.args.get(part) for part in ("catalog", "db"))
    return schema_named([fold(name) for name in before if isinstance(name, exp.Identifier)])


def column_name(node: exp.Expression) -> str:
    """The name of an unqualified column in a list of columns, a key or an assignment."""
    match node:
        case exp.Identifier():
            return fold(node)
        case exp.Column() if node.args.get("table") is None and isinstance(node.this, exp.Identifier):
            return fold(node.this)
        case exp.Ordered() | exp.Paren() if node.this is not None:
            return column_name(node.this)
    fail(InvalidQuery(f"{node.sql()} is not the name of a column"), node)


def parts_of(node: exp.Column) -> list[exp.Identifier]:
    """The names in a dotted name, from left to right."""
    found = (node.args.get(part) for part in ("catalog", "db", "table", "this"))
    return [name for name in found if isinstance(name, exp.Identifier)]


def column_of(names: list[exp.Identifier]) -> exp.Column:
    """The column with a dotted name of at most four names."""
    keys = ("this", "table", "db", "catalog")
    return exp.Column(**{key: name.copy() for key, name in zip(keys, reversed(names), strict=False)})


def field_path(names: list[exp.Identifier]) -> exp.Expression:
    """The field of a struct that is a column: `(first).second`, and so on."""
    first, *inner = names
    found: exp.Expression = exp.Paren(this=exp.Column(this=first.copy()))
    for name in inner:
        found = exp.Dot(this=found, expression=name.copy())
    return found
