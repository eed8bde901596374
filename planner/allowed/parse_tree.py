"""A query as DuckDB's own parser reads it: a tree of JSON objects.

An expression has a `class`, a query a `cte_map`, a source of rows a `sample`; each has a `type` too. Only
queries have a tree.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import duckdb
import orjson

from engine.scalar.sealed import sealed
from planner.errors import InvalidQuery, InvalidSyntax, PlannerError, SqlTooDeep, Unsupported, as_fact

Node = dict[str, Any]

NO_PLACE = 2**64 - 1
"""DuckDB's offset of a node that has no place in the text."""
_SHORT = 1000  # texts up to this length are cached: the planner asks for an expression several times
_LOCK = threading.Lock()


class Closed(Exception):
    """DuckDB must not run this text: the error to report, its offset in the text, and the function that is
    closed."""

    def __init__(self, error: PlannerError, offset: int | None = None, function: str = "") -> None:
        super().__init__(error.message)
        self.error = error
        self.function = function
        self.offset = None if offset == NO_PLACE else offset


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return sealed({"threads": 1, "memory_limit": "1GB"})


def tree(text: str) -> Node:
    """The tree of the one query in the text; do not change it. Raises Closed for any other text."""
    return _remembered(text) if len(text) < _SHORT else _tree(text)


def _tree(text: str) -> Node:
    found = _decoded(_asked("SELECT json_serialize_sql(CAST(? AS VARCHAR))", [text])[0][0])
    if found.get("error_type") == "parser":
        message = str(found["error_message"])
        if message.startswith("Max expression depth"):
            raise Closed(SqlTooDeep.of("the statement"))
        raise Closed(InvalidSyntax(as_fact(message)), int(found.get("position", NO_PLACE)))
    statements = found.get("statements", ())
    if found.get("error") or len(statements) != 1:
        raise Closed(Unsupported("this is not a query that can be answered", "write one SELECT"))
    return statements[0]["node"]


_remembered = lru_cache(maxsize=512)(_tree)


@cache
def known_functions() -> frozenset[str]:
    """The names of all functions that DuckDB has, open or closed."""
    return frozenset(
        name for (name,) in _asked("SELECT DISTINCT lower(function_name) FROM duckdb_functions()")
    )


def _asked(query: str, values: Sequence[str] = ()) -> list[tuple]:
    with _LOCK:
        return _parser().execute(query, values).fetchall()


def _decoded(text: str) -> Node:
    try:
        return orjson.loads(text)
    except json.JSONDecodeError:
        hint = "a chain of n operators nests n/3 deep: use concat or list functions instead"
        raise Closed(InvalidQuery("the query's expressions are nested too deeply", hint)) from None


def arguments(call: Node) -> list[Node]:
    """The arguments of a function."""
    return [argument["expression"] for argument in call["arguments"]]


def parts(value: object) -> Iterator[Node]:
    """The nearest objects below a value."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from parts(item)
