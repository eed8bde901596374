"""Python functions for places that expect a lambda over symbolic rows, and aggregates of groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.api.python_types import schema_from
from engine.plan.nodes import Function
from engine.schema import Schema


@dataclass(frozen=True)
class PythonFunction:
    """A function of values, and the schema of the rows that it returns."""

    function: Callable[..., Any]
    schema: Schema


def python(function: Callable[..., Any], *types: object, **columns: object) -> PythonFunction:
    """Any Python function, called with a row's values, outside the kernels. It must be deterministic.

    `types` or name=type describe its result: one tuple in `map`, any number of tuples in `flat_map`; in
    `filter` it returns a truth value, and no types are needed. In `reduce` it is called with the key's values
    and the group's sorted list of (values, count), and returns an iterable of (values, count).
    """
    named = {f"c{place}": given for place, given in enumerate(types)} | columns
    return PythonFunction(function, schema_from(named))


@dataclass(frozen=True)
class Aggregator:
    """An aggregate of a group, over a column or over the rows themselves."""

    function: Function
    column: str | None = None


def count(column: str | None = None) -> Aggregator:
    """The number of rows, or of values that are not None."""
    return Aggregator(Function.COUNT, column)


def sum_(column: str) -> Aggregator:
    """The sum of a column: exact, and an overflow is an error of its group; sums of floats are rounded
    once."""
    return Aggregator(Function.SUM, column)


def avg(column: str) -> Aggregator:
    """The average of a column, as a float."""
    return Aggregator(Function.AVG, column)


def min_(column: str) -> Aggregator:
    """The least value of a column."""
    return Aggregator(Function.MIN, column)


def max_(column: str) -> Aggregator:
    """The greatest value of a column."""
    return Aggregator(Function.MAX, column)


@dataclass(frozen=True)
class Descending:
    """A column sorted from the greatest value to the least."""

    column: str


def descending(column: str) -> Descending:
    """In an order, a column sorted from the greatest value to the least."""
    return Descending(column)
