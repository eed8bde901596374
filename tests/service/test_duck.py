"""DuckDB answers queries over the tables it is given, within limits, and opens nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from engine.codec.json import encode_rows
from engine.errors import InvalidValue
from engine.scalar.sealed import sealed
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state.dictionary import Dictionary
from planner.adhoc.adhoc_query import AdhocQuery
from planner.dialects.overloads import macro_names
from planner.errors import PlannerError, Unsupported
from service.errors import Invalid
from service.reading.duck import Answer, Duck
from service.reading.duck_database import DuckDatabase
from service.reading.given_tables import arrow_table, column_names
from service.settings.query_limits import DEFAULTS, QueryLimits

ENDLESS = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n > 0) SELECT max(n) FROM r"


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def query(sql: str) -> AdhocQuery:
    return AdhocQuery(sql, ())


def test_a_query_sees_the_tables_it_is_given(duck: Duck):
    answer = duck.run(
        query('SELECT a, count(*) AS n FROM "t#0" GROUP BY a ORDER BY a'), {"t#0": pa.table({"a": [2, 1, 2]})}
    )
    assert (answer.names, answer.types) == (("a", "n"), ("BIGINT", "BIGINT"))
    assert answer.table.to_pylist() == [{"a": 1, "n": 1}, {"a": 2, "n": 2}]


def test_it_does_not_see_those_of_others(duck: Duck):
    duck.run(query("SELECT 1 FROM t"), {"t": pa.table({"a": [1]})})
    with pytest.raises(PlannerError, match='no table or view "t"'):
        duck.run(query("SELECT 1 FROM t"), {})


def test_it_does_not_see_variables_of_the_program(duck: Duck):
    local = pa.table({"a": [1]})
    with pytest.raises(PlannerError, match='no table or view "local"'):
        duck.run(query("SELECT 1 FROM local"), {})
    assert local.num_rows == 1


@pytest.mark.parametrize("source", ["read_csv('/etc/passwd')", "read_text('/etc/passwd')", "glob('/*')"])
def test_it_reads_no_files(duck: Duck, source: str):
    with pytest.raises(Unsupported, match="is not supported"):
        duck.run(query(f"SELECT * FROM {source}"), {})


@pytest.mark.parametrize(
    "text",
    [
        "SET threads = 1",
        "SET GLOBAL integer_division = false",
        "RESET memory_limit",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "FROM enable_logging(storage = 'memory')",
        "CALL enable_logging('QueryLog', storage = 'file', storage_path = '/tmp/x')",
        "CALL disable_logging()",
        "PRAGMA enable_profiling",
        "ATTACH '/tmp/x.duckdb'",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM read_text('/etc/hostname')",
        "FROM local",
    ],
)
def test_a_sealed_database_is_closed_even_to_text_that_nobody_checked(text: str):
    local = pa.table({"a": [1]})
    database = sealed({"threads": 1})
    with pytest.raises(duckdb.Error):
        database.cursor().execute(text).fetchall()
    assert local.num_rows == 1
    assert database.execute("SELECT 1").fetchall() == [(1,)]


def test_statements_do_not_run(duck: Duck):
    for text in (
        "SET threads = 1",
        "SELECT 1; SELECT 2",
        "CREATE TABLE x AS SELECT 1",
        "CALL pragma_version()",
    ):
        with pytest.raises(Unsupported, match="not a query that can be answered"):
            duck.run(query(text), {})


def test_division_of_integers_is_as_the_query_wants_it(duck: Duck):
    for wanted, value in ((True, 3), (False, 3.5)):
        answer = duck.run(AdhocQuery("SELECT 7 / 2 AS q", (), wanted), {})
        assert answer.table.to_pylist() == [{"q": value}]


def test_a_query_that_takes_too_long_is_stopped():
    duck = Duck(QueryLimits(seconds=1))
    with pytest.raises(Invalid, match="ran for 1 second") as stopped:
        duck.run(query(ENDLESS), {})
    assert stopped.value.code == "query_timeout"
    assert duck.run(query("SELECT 1 AS a"), {}).table.to_pylist() == [{"a": 1}]
    duck.close()


def test_a_query_that_needs_too_much_memory_is_refused():
    duck = Duck(QueryLimits(memory=20 << 20))
    with pytest.raises(Invalid, match="more memory than 20 MB") as refused:
        duck.run(query("SELECT list(n) FROM range(20000000) t(n)"), {})
    assert refused.value.code == "query_out_of_memory"
    duck.close()


def test_an_answer_that_is_too_large_is_refused():
    duck = Duck(QueryLimits(answer_bytes=1 << 20))
    assert duck.run(query("SELECT n FROM range(100000) t(n)"), {}).table.num_rows == 100000
    with pytest.raises(Invalid, match="more than 1 MB") as refused:
        duck.run(query("SELECT n FROM range(1000000000) t(n)"), {})
    assert refused.value.code == "query_too_large"
    duck.close()


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1 // 0", "division by zero"),
        ("SELECT CAST('x' AS INTEGER)", "could not convert string 'x' to INT32"),
        ("SELECT CAST(300 AS TINYINT)", "300"),
        ("SELECT 1 // (n % 5) FROM range(100000) t(n)", "division by zero"),
        ("SELECT CAST(repeat('x', n % 5) AS INTEGER) FROM range(100000) t(n)", "could not convert string"),
    ],
)
def test_a_value_that_cannot_be_is_named(duck: Duck, sql: str, message: str):
    with pytest.raises(InvalidValue, match=message):
        duck.run(query(sql), {})


def test_columns_that_are_not_carried_come_as_text(duck: Duck):
    answer = duck.run(query("SELECT 1 AS a, timetz '10:00:00+02' AS b"), {}, lambda type: type == "INTEGER")
    assert answer.types == ("INTEGER", "VARCHAR")
    assert answer.table.column(1).to_pylist() == ["10:00:00+02"]


def test_answers_are_cast(duck: Duck):
    answer = Answer(("a", "a"), ("VARCHAR", "INTEGER"), pa.table([["7"], [1]], names=["a", "a"]))
    assert duck.cast(answer, ("VARCHAR", "INTEGER")) is answer.table
    assert [c.to_pylist() for c in duck.cast(answer, ("BIGINT", "BOOLEAN")).columns] == [[7], [True]]
    bad = Answer(("a",), ("VARCHAR",), pa.table({"a": ["x"]}))
    with pytest.raises(InvalidValue, match=r"could not convert string 'x' to INT64$"):
        duck.cast(bad, ("BIGINT",))


def test_tables_have_the_rows_as_often_as_they_count():
    schema, dictionary = Schema((Column("a", BIGINT), Column("B", TEXT))), Dictionary()
    rows = encode_rows([(1, "x"), (2, "y")], schema, dictionary), np.array([2, 1])
    table = arrow_table(rows, schema, dictionary)
    assert table.to_pydict() == {"a": [1, 2], "B": ["x", "y"], "count#": [2, 1]}
    assert column_names(table) == ["a", "B"]
    narrow = arrow_table(rows, schema, dictionary, {"b"})
    assert narrow.to_pydict() == {"B": ["x", "y"], "count#": [2, 1]}
    once = arrow_table((rows[0], np.array([1, 1])), schema, dictionary)
    assert once.to_pydict() == {"a": [1, 2], "B": ["x", "y"]}
    assert arrow_table(rows, schema, dictionary, {"a"}, "#").to_pydict() == {"#": [0, 1], "a": [1, 2]}


@pytest.mark.parametrize("is_recursive", [False, True])
def test_counted_rows_are_there_so_often(duck: Duck, is_recursive: bool):
    schema, dictionary = Schema((Column("a", BIGINT), Column("B", TEXT))), Dictionary()
    counts = np.array([1, 2, 1024, 1025, 5000, 3])
    rows = encode_rows([(i, "x") for i in range(len(counts))], schema, dictionary)
    table = arrow_table((rows, counts), schema, dictionary)
    asked = AdhocQuery(
        'SELECT a, count("B") AS n FROM t GROUP BY a ORDER BY a', (), is_recursive=is_recursive
    )
    assert duck.run(asked, {"t": table}).table["n"].to_pylist() == counts.tolist()


def test_a_recursion_may_stop_reading_counted_rows_in_each_round(duck: Duck):
    """Found by the random views (seed 5240): DuckDB lost the rows of every round."""
    schema, dictionary = Schema((Column("a", BIGINT),)), Dictionary()
    rows = encode_rows([(i,) for i in range(6)], schema, dictionary)
    table = arrow_table((rows, np.array([1, 2, 1, 3, 1, 1])), schema, dictionary)
    sql = (
        "WITH RECURSIVE r (n) AS (SELECT 0 UNION SELECT a FROM r, t "
        "WHERE a = n + 1 AND EXISTS (SELECT 1 FROM t)) SELECT n FROM r ORDER BY n"
    )
    answer = duck.run(AdhocQuery(sql, (), is_recursive=True), {"t": table})
    assert answer.table["n"].to_pylist() == [0, 1, 2, 3, 4, 5]


def test_macros_are_there_for_the_texts_that_call_them():
    database = DuckDatabase(DEFAULTS, None, False, "UTC")

    def there(*texts: str) -> set[str]:
        found = database.cursor(texts).execute("SELECT function_name FROM duckdb_functions()").fetchall()
        return macro_names() & {name for (name,) in found}

    first, second, *_ = sorted(macro_names())
    assert there("SELECT 1") == set()
    assert there(f"SELECT {first}(1)") == {first}
    assert there("SELECT dialect_of_nothing(1)", f'SELECT "{second.upper()}"(1)') == {first, second}
    assert there(*(f"SELECT {name}(1)" for name in macro_names())) == macro_names()
