"""Functions in SQL that random queries call: the planner gets the calls, the referee what they stand for."""

from __future__ import annotations

from planner.parsing.sql_functions import FunctionParameter, SqlFunction
from planner.parsing.vocabulary import Vocabulary, spelled_out


def _function(
    name: str, parameters: str, returns: str | None, body: str, strict: bool = False, columns: str = ""
) -> SqlFunction:
    pairs = [tuple(each.split(" ", 1)) for each in parameters.split(", ")]
    made = tuple(FunctionParameter(a, *kind.split(" DEFAULT ")) for a, kind in pairs)
    listed = tuple(tuple(each.split(" ", 1)) for each in columns.split(", ")) if columns else ()
    return SqlFunction(name, made, body, "postgres", bool(listed), returns, listed, strict)  # type: ignore[arg-type]


_MADE = (
    _function("clamped", "x INTEGER, low INTEGER DEFAULT 1", "INTEGER", "SELECT greatest(x, low)"),
    _function("marked", "s TEXT, n INTEGER", "TEXT", "SELECT coalesce(s, '?') || '#' || n", strict=True),
    _function("reaches", "node INTEGER", "BIGINT", "SELECT count(*) FROM edges WHERE src = node"),
    _function("next_of", "node INTEGER", "INTEGER", "SELECT max(dst) FROM edges AS e WHERE e.src = $1"),
    _function("is_between", "x INTEGER, y INTEGER, z INTEGER", "BOOLEAN", "SELECT x < y AND y < z"),
    _function("twice", "x NUMERIC", "NUMERIC", "SELECT x + x"),
    _function(
        *("ways_from", "node INTEGER", None, "SELECT dst, w + 1 FROM edges WHERE src = node"),
        columns="goal INTEGER, cost NUMERIC",
    ),
)
FUNCTIONS = {function.name: (function,) for function in _MADE}

CALLS = {
    "int": (
        ("clamped({})", ("int",), "greatest(CAST({} AS INTEGER), 1)"),
        ("clamped({}, low => {})", ("int", "int"), "greatest(CAST({} AS INTEGER), CAST({} AS INTEGER))"),
        (
            "reaches({})",
            ("int",),
            "(SELECT n FROM (SELECT {} AS a), LATERAL (SELECT count(*) AS n FROM edges WHERE src = a))",
        ),
        (
            "next_of({})",
            ("int",),
            "(SELECT n FROM (SELECT {} AS a), LATERAL (SELECT max(dst) AS n FROM edges WHERE src = a))",
        ),
    ),
    "text": (
        (
            "marked({}, {})",
            ("text", "int"),
            "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN {0} || '#' || {1} END",
        ),
    ),
    "bool": (
        (
            "is_between({}, {}, {})",
            ("int", "int", "int"),
            "({0} < {1} AND {1} < {2})",
        ),
    ),
    "numeric": (("twice(CAST({} AS numeric(12, 3)))", ("numeric",), "(CAST({0} AS numeric(12, 3)) * 2)"),),
}
"""By the sort of the value: a call, the sorts of its arguments, and DuckDB's text."""
ROWS_CALL = (
    "{{}} CROSS JOIN ways_from({{}}) AS {alias}(c0, c1)",
    "{{}} CROSS JOIN LATERAL (SELECT ce_dst AS c0, CAST(ce_w + 1 AS NUMERIC(18, 3)) AS c1 "
    "FROM edges AS ce(ce_src, ce_dst, ce_w) WHERE ce_src = {{}}) AS {alias}",  # its names catch no argument
)


def inlined(text: str) -> str:
    """The text without its calls of these functions."""
    return spelled_out(text, "postgres", Vocabulary(functions=FUNCTIONS))
