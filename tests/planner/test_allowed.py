"""What DuckDB may do for clients: open functions, known relations, queries and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from planner.allowed.check import check, is_small
from planner.allowed.open_functions import (
    AGGREGATES_BY_TOPIC,
    IN_QUERIES,
    IN_VIEWS,
    PASSING,
    PASSING_BY_TOPIC,
    PURE,
    PURE_BY_TOPIC,
    TABLE_FUNCTIONS,
    TABLES_BY_TOPIC,
)
from planner.allowed.parse_tree import Closed
from planner.errors import PlannerError, UnknownFunction
from planner.native.reference import constant
from planner.planning import plan_query

CLOSED = Path(__file__).with_name("closed_functions.txt")
DOCUMENT = Path(__file__).parents[2] / "docs/sql.md"
BINDER_ONLY = {"!", "->", "<>", "==", "coalesce", "current_time", "current_timestamp", "ifnull", "localtime"}
BINDER_ONLY |= {"localtimestamp", "unlist"}
"""Names that DuckDB's parser or binder knows, and its catalog does not."""


def listed(part: str) -> set[str]:
    """The closed names of one part of the file."""
    text = CLOSED.read_text().split(f"[{part}]\n")[1].split("\n[")[0]
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {quoted or word for line in lines for quoted, word in re.findall(r'"([^"]+)"|(\S+)', line)}


def of_duckdb(*kinds: str) -> set[str]:
    query = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ?"
    return {name for (name,) in duckdb.connect().execute(query, [kinds]).fetchall()}


@pytest.mark.parametrize(
    ("part", "kinds", "open_"),
    [
        ("scalar, macro, aggregate and window", ("scalar", "macro", "aggregate", "window"), IN_QUERIES),
        ("table", ("table", "table_macro"), TABLE_FUNCTIONS),
    ],
)
def test_every_function_is_open_or_closed(part: str, kinds: tuple[str, ...], open_: frozenset[str]) -> None:
    there, closed = of_duckdb(*kinds), listed(part)
    assert not closed & open_, "both open and closed"
    assert not there - closed - open_, "new in this DuckDB: open them in names.py, or list them as closed"


def test_every_open_name_is_one_of_duckdbs() -> None:
    there = of_duckdb("scalar", "macro", "aggregate", "window", "table", "table_macro")
    assert (IN_QUERIES | TABLE_FUNCTIONS) - there <= BINDER_ONLY


@pytest.mark.parametrize("topics", [PURE_BY_TOPIC, PASSING_BY_TOPIC, AGGREGATES_BY_TOPIC, TABLES_BY_TOPIC])
def test_the_reference_lists_what_is_open(topics: dict[str, str]) -> None:
    text = DOCUMENT.read_text()
    for topic, names in topics.items():
        listed_names = ", ".join(f"`{name}`" for name in sorted(names.split()) if name[0].isalpha())
        assert topic == "operators" or f"| {topic} | {listed_names} |" in text


def test_what_views_may_call_is_consistent() -> None:
    """A zone's rules change a query's answer only between settings of TimeZone, and views always have UTC."""
    query = (
        "SELECT lower(function_name) FROM duckdb_functions() WHERE stability <> 'CONSISTENT' AND NOT"
        " (len(parameter_types) > 0 AND concat_ws(' ', parameter_types, return_type) SIMILAR TO ?)"
    )
    zoned = ".*(WITH TIME ZONE|TIMESTAMPTZ_NS).*"
    changing = {name for (name,) in duckdb.connect().execute(query, [zoned]).fetchall()}
    assert "random" in changing and not changing & IN_VIEWS
    assert not PURE & PASSING


BYPASSES = [
    "SELECT version()",
    'SELECT "version"()',
    "SELECT VeRsIoN()",
    "SELECT main.version()",
    "SELECT system.main.version()",
    "SELECT a.version() FROM t",
    "SELECT 'x'.getvariable()",
    "SELECT getvariable(name := 'x')",
    "SELECT current_user",
    "SELECT current_schema",
    "SELECT session_user",
    "SELECT current_catalog FROM t",
    "SELECT list_transform([1], lambda x: sleep_ms(x))",
    "SELECT [sleep_ms(x) FOR x IN [1]]",
    "SELECT list_aggregate([1], 'combine_aggr')",
    "SELECT list_aggregate([1], lower('SUM'))",
    "SELECT array_aggr([1], 'stats')",
    "SELECT sum(sleep_ms(a)) FROM t",
    "SELECT sum(a) FILTER (WHERE sleep_ms(a) > 0) FROM t",
    "SELECT sum(a) OVER (PARTITION BY sleep_ms(a)) FROM t",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY sleep_ms(a))",
    "SELECT a FROM t WHERE a IN (SELECT txid_current())",
    "SELECT a FROM t GROUP BY a HAVING version() = 'x'",
    "SELECT a FROM t ORDER BY pg_sleep(1)",
    "SELECT a FROM t QUALIFY write_log('x') IS NULL",
    "SELECT 1 LIMIT sleep_ms(1)",
    "SELECT * REPLACE (version() AS a) FROM t",
    "SELECT DISTINCT ON (version()) a FROM t",
    "SELECT CASE WHEN FALSE THEN setseed(0.1) END",
    "SELECT {'a': version()}.a",
    "SELECT nextval('s')",
    "SELECT error('x')",
    "SELECT md5_number('x')",
    "SELECT json_serialize_sql('SELECT 1')",
    "SELECT __internal_compress_string_ubigint('x')",
    "VALUES (version())",
    "SELECT 1 UNION ALL SELECT txid_current()",
    "WITH c AS (SELECT version()) SELECT * FROM c",
    "SELECT * FROM t JOIN t AS u ON version() = 'x'",
    "SELECT * FROM t, LATERAL (SELECT version())",
    "SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path = '/tmp/x')",
    "FROM enable_logging()",
    "SELECT * FROM duckdb_logs()",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM pragma_version()",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('t')",
    "SELECT * FROM main.query('SELECT 1')",
    "SELECT * FROM histogram('t', 'a')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('*')",
    "SELECT * FROM '/etc/passwd.csv'",
    'SELECT * FROM "data.parquet"',
    "SELECT * FROM checkpoint()",
    "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT * FROM sql_auto_complete('SEL')",
    "SELECT * FROM range(version()::int)",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_settings",
    "SELECT * FROM main.t",
    "WITH duckdb_settings AS (SELECT * FROM duckdb_settings) SELECT * FROM duckdb_settings",
    "WITH c AS (SELECT * FROM duckdb_settings), duckdb_settings AS (SELECT 1) SELECT * FROM c",
    "WITH c AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM c",
    "WITH c AS (COPY t TO '/tmp/x') SELECT 1",
    "FROM (DESCRIBE t)",
    "FROM (SUMMARIZE t)",
    "FROM (SHOW TABLES)",
    "SUMMARIZE t",
    "DESCRIBE t",
    "PIVOT t ON a USING count(*)",
    "SELECT 1; SELECT 2",
    "SELECT 1; SET threads = 1",
    "",
    "COPY t TO '/tmp/x'",
    "ATTACH '/tmp/x'",
    "EXPORT DATABASE '/tmp/x'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 1",
    "RESET threads",
    "PRAGMA version",
    "CALL duckdb_logs()",
    "CREATE TABLE x AS SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "SELECT ?",
    "SELECT $name",
]


@pytest.mark.parametrize("text", BYPASSES)
def test_what_is_closed_does_not_run(text: str) -> None:
    with pytest.raises(Closed):
        check(text, IN_QUERIES, ("t",), ("a",))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a, count(*) FROM t GROUP BY ROLLUP (a) HAVING grouping(a) = 0 ORDER BY ALL LIMIT 10%",
        'SELECT user, "user" FROM (SELECT 1 AS user)',
        "WITH c(user) AS (SELECT 1) SELECT user FROM c",
        "SELECT now(), current_date, random(), uuid()",
        "SELECT list_aggregate([1], 'sum'), list_transform([1], lambda x: x + 1)",
        "SELECT [x + 1 FOR x IN [1] IF x > 0]",
        "SELECT {'a': 1}.a, map {'a': 1}['a'], [1, 2][1:1], 'x' LIKE 'y%' FROM t",
        "SELECT 'x' SIMILAR TO 'y', a BETWEEN 1 AND 2 FROM t",
        "SELECT CAST('1' AS STRUCT(a INTEGER)), INTERVAL 1 DAY, a IS NOT DISTINCT FROM 1 FROM t",
        "SELECT NOT a, a ** 2, a::DATE FROM t",
        "SELECT '{}'::JSON -> 'a' ->> 'b', TRY(1 / 0), 'ä' COLLATE de, trim(BOTH 'x' FROM 'x') FROM t",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r",
        "SELECT * FROM t PIVOT (sum(a) FOR a IN (1, 2))",
        "SELECT * FROM t ASOF JOIN t AS u ON t.a >= u.a POSITIONAL JOIN t AS v",
        "SELECT * FROM range(1000000000), unnest([1]), json_each('[1]'), (VALUES (1)) AS v(x)",
        "SELECT a, row_number() OVER (ORDER BY a), sum(a) OVER (ROWS 1 PRECEDING) FROM t",
        "SELECT a FROM t QUALIFY rank() OVER () = 1",
        "SELECT version FROM (SELECT 1 AS version)",
    ],
)
def test_what_is_open_runs(text: str) -> None:
    check(text, IN_QUERIES, ("t",), ("a",))


def test_the_error_names_the_function_and_its_place() -> None:
    with pytest.raises(Closed) as found:
        check("SELECT 1, txid_current()", IN_QUERIES)
    assert (found.value.error.message, found.value.offset) == ("function txid_current is not supported", 10)
    with pytest.raises(Closed) as found:
        check("SELECT lenght('a')", IN_QUERIES)
    assert isinstance(found.value.error, UnknownFunction)
    assert found.value.error.hint == "did you mean length?"


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT 1, version()", 11),
        ("SELECT list_transform([1], lambda x: sleep_ms(x))", 8),
        ("SELECT 1 LIMIT length(pg_sleep(1)::text)", 16),
        ("SELECT md5_number('a')", 8),
        ("SELECT sum(txid_current())", 12),
        ("SELECT upper(current_setting('x'))", 14),
    ],
)
def test_views_call_what_is_open(sql: str, column: int) -> None:
    with pytest.raises(PlannerError, match=r"function \w+ is not supported") as refused:
        plan_query(sql, {}, "duckdb")
    assert (refused.value.line, refused.value.column) == (1, column)


BOMBS = [
    "repeat('x', 10000000000)",
    "repeat('x', 100000 * 100000)",
    "repeat(repeat('x', 10000), 10000)",
    "length(repeat(repeat('x', 10000), 10000))",
    "'x'.repeat(1000000000)",
    "lpad('x', 3 * 1000 * 1000 * 1000)",
    "rpad('x', 2000000000, 'y')",
    "range(1000000000)",
    "range(-1000000000, 0)",
    "generate_series(0, 1000000000, 2)",
    "list_resize([1], 1000000000)",
    "array_to_string(range(500000), repeat(',', 1000))",
    "format('{:1000000000}', 'x')",
    "printf('%1000000000d', 1)",
    "replace(repeat('x', 100000), 'x', repeat('y', 100000))",
    "regexp_replace(repeat('x', 100000), 'x', repeat('y', 100000), 'g')",
    "bitstring('1', 2000000000)",
    "to_base(5, 2, 1000000000)",
    "levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "list_transform(range(10000), lambda x: range(100000))",
    "CASE WHEN FALSE THEN repeat('x', 1000000000) END",
]


@pytest.mark.parametrize("text", BOMBS)
def test_what_makes_too_much_is_refused(text: str) -> None:
    for ask in (constant, lambda text: check(f"SELECT {text}", IN_QUERIES)):
        with pytest.raises((PlannerError, Closed), match=r"makes a value of up to|takes too many steps"):
            ask(text)


@pytest.mark.parametrize(
    "text",
    [
        "list_reduce([repeat('x', 1000) FOR i IN range(100)], lambda x, y: x || y || x)",
        "repeat('x', CAST(pow(10, 9) AS INTEGER))",
        "generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2024-01-01', INTERVAL 1 SECOND)",
        "repeat('x', ascii('a') * 1000000)",
    ],
)
def test_what_might_be_large_is_not_computed_when_planning(text: str) -> None:
    assert not is_small(f"SELECT {text}", IN_VIEWS)
    assert constant(text) == (False, None)


def test_many_small_values_are_one_large_value() -> None:
    with pytest.raises(PlannerError, match="a constant has up to 299999764 ") as refused:
        constant(f"concat({', '.join(['repeat($$x$$, 999999)'] * 300)})")
    assert refused.value.code == "constant_too_large"


def test_what_is_small_is_computed() -> None:
    assert constant("repeat('x', 3) || upper('a')") == (True, "xxxA")
    assert constant("range(5000000, 5000002)") == (True, [5000000, 5000001])
    assert constant(f"CAST('{'7' * 10}' AS BIGINT)") == (True, 7777777777)
    assert is_small(f"SELECT upper('{'x' * 3_000_000}')", IN_VIEWS)  # a literal is as large as it is


def test_a_template_over_columns_is_bounded_by_its_literals() -> None:
    check("SELECT repeat(a, 1000), lpad(a, b), range(a), replace(a, b, a)", IN_VIEWS)
    with pytest.raises(Closed, match="repeat makes"):
        check("SELECT repeat(a, 1000000000)", IN_VIEWS)


def test_deep_expressions_are_told_and_do_not_break_the_walk() -> None:
    check(f"SELECT {' + '.join(['1'] * 300)}", IN_QUERIES)
    check(f"SELECT {' AND '.join(['TRUE'] * 5000)}", IN_QUERIES)
    with pytest.raises(Closed, match="nested too deeply"):
        check(f"SELECT {' || '.join(['1'] * 900)}", IN_QUERIES)
