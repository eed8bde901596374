"""Maps in expressions: constructors, the value of a key, and the number of entries."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.bind.coercion import as_part, coerce
from planner.bind.scalar_functions import foreign
from planner.errors import Unsupported
from planner.ir import Expression
from planner.positions import fail

Bind = Callable[[exp.Expression], Expression]

_STRICT = frozenset({"athena", "presto", "trino"})
"""Dialects in which a subscript fails where the map lacks the key."""
_FOUND = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL OR map_contains({0}, {1}) THEN {0}[{1}] "
    "WHEN CAST('the map does not have the key ' || CAST({1} AS VARCHAR) AS BOOLEAN) THEN NULL END"
)
"""A cast that fails: DuckDB's own error() cannot stand inside TRY."""


def written_map(node: exp.ToMap, bind: Bind, dialect: str) -> Expression:
    """`MAP {key: value, ...}`."""
    pairs = [(pair.this, pair.expression) for pair in node.this.expressions]
    keys = [exp.Literal.string(key.name) if isinstance(key, exp.Identifier) else key for key, _ in pairs]
    parts = [part for key, (_, value) in zip(keys, pairs, strict=True) for part in (key, value)]
    values = [as_part(bind(part)) for part in parts]
    entries = (f"{{{place}}}: {{{place + 1}}}" for place in range(0, len(values), 2))
    return foreign(f"MAP {{ {', '.join(entries)} }}", values, node, dialect)


def subscript_of_map(node: exp.ToMap) -> exp.Expression:
    """`MAP {...}[key]`, which the parser takes for a map of `{...}[key]`."""
    subscript = node.this.copy()
    subscript.this.replace(exp.ToMap(this=subscript.this.copy()))
    return subscript


def value_at(value: Expression, key: Expression, node: exp.Bracket, dialect: str) -> Expression:
    """`map[key]`: NULL if the map lacks the key, or an error of the row in dialects where it is one."""
    key = coerce(key, value.type.parts[0])
    if dialect == "clickhouse":
        hint = "write mapContains and if, or read it in another dialect"
        fail(
            Unsupported(f"a default for a key that a map lacks is not supported: {node.sql(dialect)}", hint),
            node,
        )
    if dialect not in _STRICT or node.args.get("safe"):
        return foreign("{0}[{1}]", [value, key], node, dialect)
    return foreign(_FOUND, [value, key], node, dialect)
