"""Schemas of answers that have columns besides those of a relation."""

from __future__ import annotations

from engine.schema import Column, Schema
from service.errors import Invalid


def with_columns(schema: Schema, *more: Column, of: str) -> Schema:
    """The schema of what is called `of`, with more columns behind its own. Raises Invalid if it has one of
    their names."""
    taken = sorted({column.name for column in more} & set(schema.names))
    if taken:
        raise Invalid(f"{of} has a column called {taken[0]}", "give it another name")
    return Schema((*schema.columns, *more))
