"""A suite's tables as the planner knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from engine.plan.nodes import Source
from planner.relation import Relation
from planner.statements.statement_reader import parse_script
from planner.statements.statements import CreateTable


def relations(tables: Mapping[str, str]) -> dict[str, Relation]:
    """Relations by name, given the columns of CREATE TABLE statements by name."""
    return {name: _relation(name, columns) for name, columns in tables.items()}


def _relation(name: str, columns: str) -> Relation:
    statement = cast(CreateTable, parse_script(f"CREATE TABLE {name} ({columns})")[0])
    schema = statement.columns
    names = statement.primary_key
    key = None if names is None else tuple(map(schema.index, names))
    return Relation(name, schema, Source(name, schema), key)


def key(relation: Relation) -> tuple[str, ...]:
    """The names of the primary key's columns."""
    return tuple(relation.schema.names[position] for position in relation.key or ())
