"""Strings of bits, against PostgreSQL: literals, casts, operators, functions, order and aggregates."""

from __future__ import annotations

import psycopg
import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import PlannerError, plan_query
from tests.postgres.server import Server

ROWS = """(VALUES (1, CAST('101' AS BIT VARYING), 2, '11'), (2, CAST('0011' AS BIT VARYING), -1, '01'),
  (3, CAST('1' AS BIT VARYING), 5, '1'), (4, NULL, NULL, NULL),
  (5, CAST('110010111' AS BIT VARYING), 3, '00'), (6, CAST('00000000' AS BIT VARYING), 0, '111'))
  AS t (id, b, n, s)"""
ALIKE = (
    "b",
    "length(b)",
    "bit_length(b)",
    "octet_length(b)",
    "bit_count(b)",
    "b << 1",
    "b >> n",
    "b << n",
    "~b",
    "b & ~b",
    "b | b",
    "b # ~b",
    "b || B'01'",
    "b || '01'",
    "length(b || b)",
    "b::bit(4)",
    "b::bit(2)",
    "b::bit",
    "b::bit varying(3)",
    "b::varbit(20)",
    "b::varbit",
    "n::bit(4)",
    "n::bit(70)",
    "n::bit",
    "id::bigint::bit(64)",
    "(-id)::bit(3)",
    "(b::bit(32))::int",
    "repeat('1', 40)::bit(40)::bigint",
    "s::bit(3)",
    "s::bit varying",
    "'10110'::bit(3)",
    "'1'::bit(5)",
    "'x1F'::bit(8)",
    "'b101'::bit varying",
    "X'1F'",
    "X'0a'",
    "B'00101'",
    "get_bit(b, 0)",
    "set_bit(b, 0, 0)",
    "set_bit(b, 0, 1)",
    "substring(b from 1 for 2)",
    "substring(b from 1)",
    "substring(b from -1 for 4)",
    "substring(b, 1, 1)",
    "overlay(b placing B'11' from 1 for 1)",
    "overlay(b placing B'11' from 1)",
    "overlay(b placing B'1' from 2 for 0)",
    "position(B'1' in b)",
    "position(B'11' in b)",
    "b < B'01'",
    "b = '101'",
    "b BETWEEN '0' AND '1'",
    "b IN (B'101', '1')",
    "count(DISTINCT b)",
    "bit_and(b::bit(3))",
    "bit_or(b::bit(3))",
    "bit_xor(b::bit(3))",
    "string_agg(b::text, ' ' ORDER BY b)",
    "coalesce(b, '0')",
    "greatest(b, B'1')",
    "lag(b) OVER (ORDER BY b)",
)
CONSTANT = ("set_bit(B'1010', 2, 0)", "get_bit(B'1010', 2)", "B'10' << 1", "position(B'1' in B'001')")
FAILING = ("get_bit(b, 20)", "set_bit(b, 0, 2)", "overlay(b placing B'1' from 0)", "(s || 'x')::bit varying")
REFUSED = (
    "b + 1",
    "b & B'101' & 1",
    "n::bit varying",
    "true::bit",
    "1.5::bit(3)",
    "b::bytea",
    "b::float8",
    "b::boolean",
    "b::json",
    "b::bit(0)",
    "upper(b)",
    "B'102'",
    "0x10",
    "0b1",
)
EMPTY = ("B''", "''::bit varying", "b = ''")


def ours(sql: str) -> tuple[list[object], int]:
    """The values of the one column, and the number of errors of rows."""
    engine = Engine()
    planned = plan_query(sql, {})
    engine.create_view("v", planned.plan)
    words, counts = engine.snapshot.rows("v", 0)
    rows = decode_rows(words, planned.schema, engine.dictionary)
    values = [str(v) for (v,), n in zip(rows, counts.tolist(), strict=True) for _ in range(n)]
    return sorted(values), len(engine.snapshot.errors("v", 0))


@pytest.mark.parametrize("expression", ALIKE + CONSTANT)
def test_bits_are_postgresqls(postgres: Server, expression: str) -> None:
    sql = f"SELECT {expression} AS a FROM {ROWS}"
    with postgres.connect() as connection:
        expected = sorted(str(value) for (value,) in connection.execute(sql).fetchall())
    assert ours(sql) == (expected, 0)


@pytest.mark.parametrize("expression", FAILING)
def test_what_fails_there_fails_its_row(postgres: Server, expression: str) -> None:
    sql = f"SELECT {expression} AS a FROM {ROWS}"
    with postgres.connect() as connection, pytest.raises(psycopg.Error):
        connection.execute(sql)
    assert ours(sql)[1]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_refused_there_is_refused(postgres: Server, expression: str) -> None:
    sql = f"SELECT {expression} AS a FROM {ROWS}"
    with postgres.connect() as connection, pytest.raises(psycopg.Error):
        connection.execute(sql)
    with pytest.raises(PlannerError):
        plan_query(sql, {})


@pytest.mark.parametrize("expression", EMPTY)
def test_bits_are_never_none(expression: str) -> None:
    with pytest.raises(PlannerError):
        plan_query(f"SELECT {expression} AS a FROM {ROWS}", {})


def test_a_row_whose_bits_would_be_none_fails() -> None:
    assert ours(f"SELECT substring(b from 2 for 1) AS a FROM {ROWS}")[1] == 1
    assert ours(f"SELECT substring(s from 2)::bit varying AS a FROM {ROWS}")[1] == 1
