"""Names as in the catalog: a quoted name as written, any other in lower case, in every dialect."""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery, Unsupported
from planner.positions import fail

DEFAULT_SCHEMAS = frozenset({"public", "main"})
"""PostgreSQL's and DuckDB's schema for names that are written without one."""


def fold(identifier: exp.Identifier) -> str:
    return identifier.this if identifier.args.get("quoted") else identifier.this.lower()


def relation_name(node: exp.Expression) -> str:
    """The name of a table or view. Raises Unsupported for a name with a schema."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        fail(InvalidQuery(f"{node.sql()} is not the name of a table or view"), node)
    check_schema(node)
    return fold(node.this)


def check_schema(node: exp.Table) -> None:
    """Raise Unsupported for a name with a schema, except the one schema that contains everything."""
    if node.args.get("db") is not None and node.db.lower() not in DEFAULT_SCHEMAS:
        fail(Unsupported(f"there are no schemas: {node.sql()}", f"write {node.this.sql()}"), node)


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
