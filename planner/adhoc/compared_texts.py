"""Labels of enumerations in ad-hoc queries.

DuckDB compares an enumeration with a text as two texts; PostgreSQL compares them by the order of the labels.
So a label that is compared with a column is cast to the column's type.
"""

from __future__ import annotations

from sqlglot import exp

from engine.schema import Kind, Type
from planner.adhoc.from_clauses import Relations
from planner.identifiers import relation_name
from planner.sql_types import duckdb_type

_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def with_typed_labels(query: exp.Expression, relations: Relations, dialect: str) -> None:
    """Cast the labels wherever the column's name determines its type."""
    types = {name: type for name, type in types_by_name(query, relations).items() if type.kind is Kind.ENUM}
    if dialect == "duckdb" or not types:
        return
    for node in query.find_all(*_ORDERED, exp.Between):
        sides = [node.args[part] for part in ("this", "expression", "low", "high") if node.args.get(part)]
        column = next((side for side in sides if isinstance(side, exp.Column)), None)
        found = types.get(column.name.lower()) if column is not None else None
        for label in sides:
            if found is not None and isinstance(label, exp.Literal) and label.is_string:
                label.replace(exp.cast(label.copy(), _node(found)))


def types_by_name(query: exp.Expression, relations: Relations) -> dict[str, Type]:
    """The types of the columns of the query's tables, by column name, where one name has one type."""
    found: dict[str, set[Type]] = {}
    for table in query.find_all(exp.Table):
        known = relations.get(relation_name(table)) if isinstance(table.this, exp.Identifier) else None
        for column in known.schema.columns if known is not None else ():
            found.setdefault(column.name.lower(), set()).add(column.type)
    return {name: next(iter(types)) for name, types in found.items() if len(types) == 1}


def _node(type: Type) -> exp.DataType:
    return exp.DataType.build(duckdb_type(type), dialect="duckdb")
