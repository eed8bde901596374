"""The types of columns in ad-hoc queries, which are not bound: by name, where one name has one type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from engine.schema import Column, Type
from planner.adhoc.from_clauses import Relations
from planner.identifiers import relation_name


def types_by_name(query: exp.Expression, relations: Relations) -> dict[str, Type]:
    """The types of the columns of the query's tables, by column name, where one name has one type."""
    tables = (table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    known = (relations.get(relation_name(table)) for table in tables)
    return types_of(column for each in known if each is not None for column in each.schema.columns)


def types_of(columns: Iterable[Column]) -> dict[str, Type]:
    """The types of columns by name, in small letters, where one name has one type."""
    found: dict[str, set[Type]] = {}
    for column in columns:
        found.setdefault(column.name.lower(), set()).add(column.type)
    return {name: next(iter(types)) for name, types in found.items() if len(types) == 1}


def column_type(node: exp.Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of a column, also in parentheses; None for any other expression, and an unknown name."""
    inner = node.unnest()
    return types.get(inner.name.lower()) if isinstance(inner, exp.Column) else None
