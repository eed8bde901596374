"""The referee: the same SQL over the same rows in DuckDB, as a bag of comparable values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from engine.schema import Schema
from tests.oracle.evaluation import NAN, Row, sql_type

Bag = Counter[Row]


class Referee:
    """Tables in DuckDB that can be queried and changed."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self.schemas = schemas
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET disabled_optimizers = 'common_subplan'")  # it loses rows in DuckDB 2.0
        for name, schema in schemas.items():
            columns = ", ".join(f'"{c.name}" {sql_type(c.type)}' for c in schema.columns)
            self.connection.execute(f'CREATE TABLE "{name}" ({columns})')

    def load(self, table: str, rows: Sequence[Row]) -> None:
        """Make the table hold just `rows`."""
        self.connection.execute(f'DELETE FROM "{table}"')
        if rows:
            places = ", ".join("?" for _ in rows[0])
            self.connection.executemany(
                f'INSERT INTO "{table}" VALUES ({places})', [[_given(v) for v in r] for r in rows]
            )

    def rows(self, sql: str, dialect: str = "postgres") -> Bag:
        """The query's rows; it is transpiled with its types, so that division means what the dialect says."""
        result = self.connection.execute(transpiled(sql, self.schemas, dialect)).fetchall()
        return Counter(tuple(comparable(value) for value in row) for row in result)

    def types(self, sql: str, dialect: str = "postgres") -> list[str]:
        text = transpiled(sql, self.schemas, dialect)
        return [row[1] for row in self.connection.execute(f"DESCRIBE {text}").fetchall()]


def _given(value: object) -> object:
    """A value as DuckDB takes it for a parameter."""
    return [_given(element) for element in value] if isinstance(value, tuple) else value


def transpiled(sql: str, schemas: Mapping[str, Schema], dialect: str) -> str:
    tree = sqlglot.parse_one(sql, read=dialect)
    if tree.find(exp.Div, exp.Round):
        types = {name: {c.name: sql_type(c.type) for c in schema.columns} for name, schema in schemas.items()}
        tree = annotate_types(qualify(tree, schema=types, dialect=dialect), schema=types)
    return (tree.transform(_rounded) if dialect == "postgres" else tree).sql("duckdb")


def _rounded(node: exp.Expr) -> exp.Expr:
    """PostgreSQL rounds halves of floats to the even number, and DuckDB's round() away from zero."""
    if (
        isinstance(node, exp.Round)
        and node.args.get("decimals") is None
        and node.this.is_type(exp.DType.FLOAT, exp.DType.DOUBLE)
    ):
        return exp.func("round_even", node.this, exp.Literal.number(0))
    return node


def comparable(value: object) -> object:
    """Values that compare across the two sides: whole decimals by value, one NaN, one zero."""
    if isinstance(value, float):
        return NAN if math.isnan(value) else value + 0.0
    if isinstance(value, list | tuple):
        return tuple(comparable(element) for element in value)
    return value


def same_bag(left: Bag, right: Bag) -> bool:
    """Whether the bags are equal, numbers compared by value and floats to nine digits."""
    if left == right:
        return True
    if sum(left.values()) != sum(right.values()):
        return False
    pairs = zip(sorted(left.elements(), key=_order), sorted(right.elements(), key=_order), strict=True)
    return all(_same_row(a, b) for a, b in pairs)


def _order(row: Row) -> tuple[tuple[str, object], ...]:
    return tuple(_order_value(value) for value in row)


def _order_value(value: object) -> tuple[str, object]:
    if value is None or value is NAN:
        return ("", repr(value))
    if isinstance(value, int | float | Decimal):
        return ("0", float(f"{float(value):.6g}"))
    return (type(value).__name__, value)


def _same_row(a: Row, b: Row) -> bool:
    return len(a) == len(b) and all(_same_value(x, y) for x, y in zip(a, b, strict=True))


def _same_value(a: object, b: object) -> bool:
    if a is b or a == b:
        return True
    if isinstance(a, float) or isinstance(b, float):
        if a is None or b is None:
            return False
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    return False
