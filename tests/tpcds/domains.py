"""What the queries compare columns with: the values that rows have to have to come through.

Column names are unique in TPC-DS, so a domain belongs to a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.simplify import simplify

Domains = Mapping[str, tuple[str, ...]]  # constants by column, as they are written

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)


def domains(query: str) -> Domains:
    found: dict[str, list[str]] = defaultdict(list)
    for node in simplify(sqlglot.parse_one(query, read="duckdb")).find_all(*_COMPARISONS):
        columns = {column.name.lower() for column in _outside_subqueries(node, exp.Column)}
        constants = [_written(literal) for literal in _outside_subqueries(node, exp.Literal)]
        if len(columns) == 1:
            found[columns.pop()] += [value for value in constants if value]
    return {column: tuple(dict.fromkeys(values)) for column, values in found.items()}


def _written(literal: exp.Expression) -> str:
    return f"-{literal.name}" if isinstance(literal.parent, exp.Neg) else literal.name


def _outside_subqueries(node: exp.Expression, kind: type[exp.Expression]) -> Iterator[exp.Expression]:
    for found in node.walk(prune=lambda each: isinstance(each, exp.Query | exp.Interval)):
        if isinstance(found, kind):
            yield found
