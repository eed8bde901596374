"""Counters by name: sequences, and those of identity columns, which PostgreSQL calls table_column_seq."""

from __future__ import annotations

from planner.relation_names import full_name, split_name
from planner.suggestions import did_you_mean
from service.definitions.definitions import Definitions
from service.definitions.filling import Counter
from service.errors import NotFound


def counter_called(of: Definitions, name: str) -> Counter:
    """The counter of a full name. Raises NotFound."""
    found = _find(of, name)
    if found is None:
        raise NotFound(f"there is no sequence called {name}", did_you_mean(name, of.sequences.all))
    return found


def has_counter(of: Definitions, name: str) -> bool:
    return _find(of, name) is not None


def _find(of: Definitions, name: str) -> Counter | None:
    if name in of.sequences.all:
        return of.sequences.all[name]
    for definition in of.all.values():
        schema, table = split_name(definition.name)
        for column in definition.details.rules.identities:
            if full_name(schema, f"{table}_{column}_seq") == name and definition.filling is not None:
                return definition.filling.counter(column)
    return None
