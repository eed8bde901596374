"""DuckDB's answers in the form that views give them, and the comparison of two answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import cast

from sqlglot import exp, parse_one

from bench.duck import WrongAnswer

Row = tuple[object, ...]
TOLERANCE = 1e-9


def without_ties(sql: str) -> str:
    """The query with ties under its ORDER BY broken by all columns, as views break them.

    This is for DuckDB, which otherwise may choose any of the tied rows if LIMIT cuts between them.
    """
    query = cast(exp.Query, parse_one(sql, dialect="postgres"))
    if query.args.get("limit"):
        for position in range(len(query.selects)):
            query = query.order_by(exp.Literal.number(position + 1))
    return query.sql("duckdb")


def compare(name: str, got: Iterable[Row], expected: Iterable[Row]) -> None:
    """Raise WrongAnswer, with the first difference, unless both are the same bag; floats agree to nine
    digits."""
    mine, others = sorted(got, key=_order), sorted(expected, key=_order)
    if len(mine) != len(others):
        raise WrongAnswer(f"{name} has {len(mine)} rows, and {len(others)} in DuckDB")
    for row, other in zip(mine, others, strict=True):
        if not all(map(_same, row, other)):
            raise WrongAnswer(f"{name} has {row} where DuckDB has {other}")


def _order(row: Row) -> tuple[tuple[bool, str], ...]:
    return tuple((value is None, _rounded(value)) for value in row)


def _rounded(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float | Decimal):
        return math.isclose(one, other, rel_tol=TOLERANCE)
    return one == other
