"""Texts beside numbers, dates and moments, against PostgreSQL: what it takes, and what it makes of them."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import PlannerError, plan_query
from tests.postgres.server import Server

ROW = """(VALUES (5, 2.5::float8, 1.25::numeric(9, 2), DATE '2026-05-03', TIMESTAMP '2026-05-03 12:00:00'))
AS t (v, f, n, d, ts)"""
ALIKE = (
    "v + '7'",
    "'7' - v",
    "v * ' 3 '",
    "v / '2'",
    "v % '3'",
    "f * '1.5'",
    "'10' / f",
    "n + '0.125'",
    "d - '2026-05-01'",
    "'2026-06-01' - d",
    "CAST(ts - '2026-05-01' AS TEXT)",
    "v = '5'",
    "v < '12'",
)
REFUSED = (
    "v = '1.5'",
    "v + '1.5'",
    "v * 'x'",
    "f + 'x'",
    "d - '2026-05-32'",
    "ts - 'noon'",
    "v BETWEEN '1' AND '2e1'",
    "v IN ('1', '2.5')",
)


def ours(sql: str) -> object:
    engine = Engine()
    planned = plan_query(sql, {})
    engine.create_view("v", planned.plan)
    words, _ = engine.snapshot.rows("v", 0)
    ((value,),) = decode_rows(words, planned.schema, engine.dictionary)
    return value


@pytest.mark.parametrize("expression", ALIKE)
def test_a_text_is_what_it_stands_beside(postgres: Server, expression: str) -> None:
    sql = f"SELECT {expression} AS a FROM {ROW}"
    with postgres.connect() as connection:
        (expected,) = connection.execute(sql).fetchone() or (None,)
    found = ours(sql)
    assert (Decimal(str(found)) if isinstance(expected, Decimal) else found) == expected


@pytest.mark.parametrize("expression", REFUSED)
def test_what_postgresql_refuses_is_refused(postgres: Server, expression: str) -> None:
    sql = f"SELECT {expression} AS a FROM {ROW}"
    with postgres.connect() as connection, pytest.raises(psycopg.Error):
        connection.execute(sql)
    with pytest.raises(PlannerError) as refused:
        plan_query(sql, {})
    assert refused.value.code == "type_mismatch"


def test_a_text_with_a_fraction_is_no_whole_number_of_values(postgres: Server) -> None:
    sql = "SELECT a FROM (VALUES (1), ('{}')) AS t (a) WHERE a > 1"
    with postgres.connect() as connection:
        for text in ("1.5", "2e1"):
            with pytest.raises(psycopg.Error):
                connection.execute(sql.format(text))
            with pytest.raises(PlannerError) as refused:
                plan_query(sql.format(text), {})
            assert refused.value.code == "type_mismatch"
        assert connection.execute(sql.format(" 2 ")).fetchall() == [(ours(sql.format(" 2 ")),)]
