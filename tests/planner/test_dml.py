"""What INSERT, UPDATE and DELETE touch, found by DuckDB over small tables."""

import duckdb
import pyarrow as pa
import pytest

from engine.plan.nodes import Source
from engine.schema import BIGINT, INTEGER, TEXT, Column, Schema
from planner import Relation
from planner.adhoc.adhoc_query import AdhocQuery
from planner.adhoc.dml_queries import (
    Assignments,
    delete_query,
    insert_columns,
    insert_query,
    update_query,
    values_query,
)
from planner.errors import PlannerError
from planner.statements.statement_reader import parse_script
from planner.statements.statements import Delete, Insert, Update

T = Schema((Column("a", BIGINT), Column("b", TEXT)))
TABLES = {"t": {"a": [1, 2, 3], "b": ["x", "y", "z"]}, "u": {"a": [2, 2, 3], "c": [5, 6, 7]}}


U = Schema((Column("a", BIGINT), Column("c", BIGINT)))
RELATIONS = {name: Relation(name, known, Source(name, known)) for name, known in {"t": T, "u": U}.items()}


def one(sql: str):
    (statement,) = parse_script(sql)
    return statement


def run(query: AdhocQuery) -> list[tuple]:
    connection = duckdb.connect()
    for reference in query.references:
        columns = TABLES[reference.relation]
        places = {} if reference.row is None else {reference.row: list(range(len(columns["a"])))}
        connection.register(reference.alias, pa.table({**places, **columns}))
    return sorted(connection.execute(query.sql).fetchall(), key=str)


def update(sql: str) -> Assignments:
    statement = one(sql)
    assert isinstance(statement, Update)
    return update_query(statement, T, RELATIONS)


def delete(sql: str) -> list[tuple]:
    statement = one(sql)
    assert isinstance(statement, Delete)
    return run(delete_query(statement, T, RELATIONS).query)


def test_delete():
    assert delete("DELETE FROM t") == [(0,), (1,), (2,)]
    assert delete("DELETE FROM t WHERE a >= 2 AND b <> 'z'") == [(1,)]
    assert delete("DELETE FROM t AS x USING u WHERE x.a = u.a") == [(1,), (2,)]
    assert delete("DELETE FROM t WHERE a = (SELECT max(a) FROM t)") == [(2,)]
    assert delete("WITH w AS (SELECT a FROM u WHERE c > 6) DELETE FROM t USING w WHERE w.a = t.a") == [(2,)]


def test_update():
    assignments = update("UPDATE t SET b = b || '!', a = a * 10 WHERE a < 3")
    assert assignments.columns == (1, 0)
    assert run(assignments.query) == [(0, "x!", 10), (1, "y!", 20)]


def test_update_from_gives_each_match():
    assert run(update("UPDATE t AS x SET a = u.c FROM u WHERE x.a = u.a").query) == [(1, 5), (1, 6), (2, 7)]


def test_update_of_several_columns_at_once():
    assignments = update("UPDATE t SET (b, a) = ('n', DEFAULT) WHERE a = 1")
    assert assignments.columns == (1, 0)
    assert run(assignments.query) == [(0, "n", None)]


def test_insert_of_a_query():
    statement = one("WITH w AS (SELECT 1 AS one) INSERT INTO t SELECT u.c, 'k' FROM u, w WHERE u.a = 3")
    assert isinstance(statement, Insert)
    assert insert_columns(statement, T) == (0, 1)
    assert run(insert_query(statement, RELATIONS)) == [(7, "k")]


def test_insert_of_values_casts_them():
    statement = one(
        "INSERT INTO t (b, a) VALUES (1 + 1, '7'), ('x', DEFAULT), (NULL, (SELECT max(c) FROM u))"
    )
    assert isinstance(statement, Insert)
    assert insert_columns(statement, T) == (1, 0)
    rows = run(values_query(statement.query, (TEXT, INTEGER), RELATIONS))
    assert rows == [("2", 7), ("x", None), (None, 7)]


def test_a_column_of_any_name_is_kept_apart_from_the_rows_places():
    schema = Schema((Column("#", BIGINT),))
    statement = one("DELETE FROM t")
    assert isinstance(statement, Delete)
    assert delete_query(statement, schema, RELATIONS).query.references[0].row == "##"


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("UPDATE t SET z = 1", 'table "t" has no column "z"', 14),
        ("UPDATE t SET a = 1, a = 2", "column a is set twice", 21),
        ("UPDATE t SET (a, b) = (1, u.*) FROM u", "(a, b) = (1, u.*) is not an assignment", 15),
        ("UPDATE t SET a = *", "a = * is not an assignment", 14),
        (
            "UPDATE t SET (a, b) = (SELECT 1)",
            "several columns are set to a query that is not one SELECT of as many columns",
            15,
        ),
    ],
)
def test_updates_that_are_wrong(sql: str, message: str, column: int):
    with pytest.raises(PlannerError) as refused:
        update(sql)
    assert (refused.value.message, refused.value.line, refused.value.column) == (message, 1, column)


def test_an_insert_names_columns_that_are_there():
    statement = one("INSERT INTO t (a, z) VALUES (1, 2)")
    assert isinstance(statement, Insert)
    with pytest.raises(PlannerError) as refused:
        insert_columns(statement, T)
    assert (refused.value.message, refused.value.hint) == ('table "t" has no column "z"', "it has a, b")
