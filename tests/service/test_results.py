"""Every answer of DuckDB becomes JSON, with a type of the REST contract."""

import orjson
import pytest

from planner.adhoc.adhoc_query import AdhocQuery
from service.reading.duck import Duck
from service.reading.results import answer_document, is_written
from tests.service.client import Client


@pytest.fixture(scope="module")
def duck():
    duck = Duck()
    yield duck
    duck.close()


def one(duck: Duck, expression: str) -> tuple[str, object]:
    """Type and value of an expression, through JSON."""
    answer = duck.run(AdhocQuery(f"SELECT {expression} AS it", (), False), {}, is_written)
    columns, rows = orjson.loads(orjson.dumps(answer_document(answer)))
    assert columns[0]["name"] == "it"
    return columns[0]["type"], rows[0][0]


@pytest.mark.parametrize(
    ("expression", "type", "value"),
    [
        ("1::smallint", "SMALLINT", 1),
        ("1", "INTEGER", 1),
        ("(-2)::bigint ** 1", "DOUBLE PRECISION", -2.0),
        ("9223372036854775807", "BIGINT", 9223372036854775807),
        ("1.50::decimal(10, 2)", "NUMERIC(10, 2)", "1.50"),
        ("0.00000001::decimal(18, 8)", "NUMERIC(18, 8)", "0.00000001"),
        ("0.1::real", "REAL", 0.1),
        ("'nan'::double", "DOUBLE PRECISION", "NaN"),
        ("'-inf'::double", "DOUBLE PRECISION", "-Infinity"),
        ("true", "BOOLEAN", True),
        ("'x'", "TEXT", "x"),
        ("date '2026-01-02'", "DATE", "2026-01-02"),
        ("list_avg([date '2026-01-01', '2026-01-01', '2026-01-03'])", "TIMESTAMP", "2026-01-01T16:00:00"),
        ("'2026-01-02 00:00:00.000001571'::timestamp_ns", "TIMESTAMP", "2026-01-02T00:00:00.000002"),
        ("['2026-01-02 00:00:00.000001571'::timestamp_ns]", "TIMESTAMP[]", ["2026-01-02T00:00:00.000002"]),
        ("date 'infinity'", "DATE", "infinity"),
        ("timestamp '2026-01-02 03:04:05.5'", "TIMESTAMP", "2026-01-02T03:04:05.500000"),
        ("timestamptz '2026-01-02 03:04:05+02'", "TIMESTAMPTZ", "2026-01-02T01:04:05Z"),
        ("timestamp_ns '2026-01-02 03:04:05.123456789'", "TIMESTAMP", "2026-01-02T03:04:05.123457"),
        ("time '10:00:01.5'", "TIME", "10:00:01.500000"),
        ("timetz '10:00:00+02'", "TIMETZ", "10:00:00+02"),
        ("interval '1 year 2 months 3 days 4 hours 5 minutes 6.5 seconds'", "INTERVAL", "P1Y2M3DT4H5M6.5S"),
        ("'ab'::blob", "BYTEA", "YWI="),
        ("""'{"a": [1, null]}'::json""", "JSON", {"a": [1, None]}),
        ("'00000000-0000-0000-0000-000000000001'::uuid", "UUID", "00000000-0000-0000-0000-000000000001"),
        ("1::hugeint", "BIGINT", 1),
        ("9223372036854775808::hugeint", "NUMERIC(38, 0)", "9223372036854775808"),
        ("18446744073709551615::ubigint", "UBIGINT", "18446744073709551615"),
        ("5::utinyint", "UTINYINT", 5),
        ("'101'::bit", "BIT", "101"),
        ("'x'::enum('x', 'y')", "ENUM('x', 'y')", "x"),
        ("""['{"a": 1}'::json]""", "JSON[]", [{"a": 1}]),
        ("[1, NULL]::bigint[]", "BIGINT[]", [1, None]),
        ("[[1.5], NULL, []]::decimal(3, 1)[][]", "NUMERIC(3, 1)[][]", [["1.5"], None, []]),
        ("[date '2026-01-02']::date[1]", "DATE[]", ["2026-01-02"]),
        ("{'a': 1, 'b': date '2026-01-02'}", "STRUCT(a INTEGER, b DATE)", {"a": 1, "b": "2026-01-02"}),
        ("map {'k': 1.5}", "MAP(TEXT, NUMERIC(2, 1))", {"k": "1.5"}),
        ("map {1: 'x'}", "MAP(INTEGER, TEXT)", [[1, "x"]]),
        ("[{'a': 1}, NULL]", "STRUCT(a INTEGER)[]", [{"a": 1}, None]),
        ("NULL", "INTEGER", None),
        ("NULL::interval", "INTERVAL", None),
        ("NULL::integer[]", "INTEGER[]", None),
        ("NULL::timestamptz", "TIMESTAMPTZ", None),
    ],
)
def test_values(duck: Duck, expression: str, type: str, value: object):
    assert one(duck, expression) == (type, value)


def test_rows_come_in_order(duck: Duck):
    answer = duck.run(
        AdhocQuery("SELECT r AS a, timetz '10:00:00+02' AS b FROM range(3) t(r) ORDER BY r DESC", (), False),
        {},
        is_written,
    )
    assert answer_document(answer) == (
        [{"name": "a", "type": "BIGINT"}, {"name": "b", "type": "TIMETZ"}],
        [[2, "10:00:00+02"], [1, "10:00:00+02"], [0, "10:00:00+02"]],
    )


def test_no_rows_have_columns_all_the_same(duck: Duck):
    answer = duck.run(AdhocQuery("SELECT 1 AS a, [1] AS b WHERE false", (), False), {}, is_written)
    assert answer_document(answer) == (
        [{"name": "a", "type": "INTEGER"}, {"name": "b", "type": "INTEGER[]"}],
        [],
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT g, avg(day) AS a, avg(DISTINCT day) AS b FROM t GROUP BY g",
        "SELECT g, avg(CAST(day AS DATE)) OVER (PARTITION BY g) AS a FROM t",
    ],
)
def test_dates_of_any_year_are_averaged(client: Client, query: str):
    """DuckDB's own average of dates has nanoseconds, which end in 2262."""
    client.table("t", {"g": "INT", "day": "DATE"})
    days = [(1, "1500-01-01"), (1, "9000-02-03"), (1, "2024-01-01"), (2, "2024-01-02"), (2, None)]
    client.insert("t", *({"g": g, "day": day} for g, day in days))
    client.view("v", query)
    answer = client.post("/v1/sql", {"sql": query, "dialect": "duckdb"}).json()["results"][0]
    assert sorted(map(tuple, answer["rows"])) == sorted(client.rows("v"))
    assert {row[1] for row in answer["rows"]} == {"4174-09-12T00:00:00", "2024-01-02T00:00:00"}
