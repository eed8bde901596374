"""Every statement that there is, and the refusal of those that there are not."""

import pytest
from sqlglot import exp

from engine.schema import BIGINT, INTEGER, TEXT, Column, Schema, numeric
from planner.errors import PlannerError
from planner.parsing.script import Excerpt
from planner.statements.drop_statements import DropTable, DropView
from planner.statements.show_statements import Explain, ShowTables, ShowViews
from planner.statements.statement_reader import parse_script
from planner.statements.statements import (
    Begin,
    Commit,
    CreateTable,
    CreateView,
    Delete,
    Insert,
    Select,
    Statement,
    Update,
)


def one(sql: str, dialect: str = "postgres") -> Statement:
    (statement,) = parse_script(sql, dialect)
    return statement


def refusal(sql: str) -> PlannerError:
    with pytest.raises(PlannerError) as refused:
        parse_script(sql)
    return refused.value


def test_a_script_gives_its_statements_in_order_with_their_places():
    script = "BEGIN; INSERT INTO t VALUES (1);\n  COMMIT"
    statements = parse_script(script)
    assert [type(s) for s in statements] == [Begin, Insert, Commit]
    assert [(s.index, s.line, s.column) for s in statements] == [(0, 1, 1), (1, 1, 8), (2, 2, 3)]
    assert statements[1].source == "INSERT INTO t VALUES (1)"


# CREATE TABLE


def test_create_table():
    statement = one(
        'CREATE TABLE IF NOT EXISTS T (Id bigint PRIMARY KEY, "B" numeric(10, 2) NOT NULL, c text NULL)'
    )
    assert isinstance(statement, CreateTable)
    assert (statement.name, statement.primary_key, statement.if_not_exists) == ("t", ("id",), True)
    assert statement.columns == Schema(
        (Column("id", BIGINT, False), Column("B", numeric(10, 2), False), Column("c", TEXT, True))
    )


@pytest.mark.parametrize("key", ["PRIMARY KEY (a, b)", "CONSTRAINT named PRIMARY KEY (A, b)"])
def test_a_primary_key_of_several_columns_makes_them_not_null(key: str):
    statement = one(f"CREATE TABLE t (a int, b varchar(10), c int, {key})")
    assert isinstance(statement, CreateTable)
    assert statement.primary_key == ("a", "b")
    assert [column.nullable for column in statement.columns.columns] == [False, False, True]


def test_a_table_may_have_no_key():
    statement = one("CREATE TABLE t (a int)")
    assert isinstance(statement, CreateTable)
    assert (statement.primary_key, statement.if_not_exists) == (None, False)
    assert statement.columns == Schema((Column("a", INTEGER),))


@pytest.mark.parametrize(
    ("columns", "construct", "column"),
    [
        ('a text COLLATE "C"', "COLLATE on column a", 24),
        ("a int, UNIQUE NULLS NOT DISTINCT (a)", "NULLS NOT DISTINCT on a table", 31),
        ("a int REFERENCES u (b) ON UPDATE SET DEFAULT", "ON UPDATE SET DEFAULT on a table", 40),
        ("a int, LIKE u", "LIKE on a table", 24),
        ("a int GENERATED ALWAYS AS IDENTITY (MINVALUE 10)", "MINVALUE of an identity", 53),
        ("a hstore", "type HSTORE", 17),
    ],
)
def test_what_a_table_cannot_have_is_refused_by_name_and_place(columns: str, construct: str, column: int):
    error = refusal(f"CREATE TABLE t ({columns})")
    assert (error.code, error.message) == ("unsupported_sql", f"{construct} is not supported")
    assert (error.line, error.column) == (1, column)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE TEMP TABLE t (a int)", "CREATE TEMPORARY TABLE needs a session of PostgreSQL's protocol"),
        ("CREATE OR REPLACE TABLE t LIKE u", "CREATE OR REPLACE TABLE with LIKE is not supported"),
        (
            "CREATE TABLE t (a int) PARTITION BY RANGE (a)",
            "CREATE TABLE with PARTITION BY RANGE(a) is not supported",
        ),
        ("CREATE TABLE t", "a table needs at least one column"),
        ("CREATE TABLE t ()", "a table needs at least one column"),
        ("CREATE TABLE t (a)", "column a has no type"),
        ("CREATE TABLE t (a int, A int)", "column a is defined twice"),
        ("CREATE TABLE t (a int PRIMARY KEY, PRIMARY KEY (a))", "a table has at most one primary key"),
        (
            "CREATE TABLE t (a int, PRIMARY KEY (z))",
            "the primary key names column z, which the table does not have",
        ),
        ("CREATE TABLE t (a int, PRIMARY KEY (a, a))", "the primary key names column a twice"),
    ],
)
def test_tables_that_cannot_be(sql: str, message: str):
    assert refusal(sql).message == message


# CREATE VIEW


def test_a_view_keeps_its_query_as_it_was_written():
    script = 'SELECT 1;\n CREATE OR REPLACE MATERIALIZED VIEW "V" (A, b) AS\n  SELECT  1,2 -- why'
    statement = parse_script(script)[1]
    assert isinstance(statement, CreateView)
    assert statement.query == Excerpt("SELECT  1,2", 3, 3)
    assert (statement.name, statement.column_names) == ("V", ("a", "b"))
    assert (statement.or_replace, statement.materialized, statement.if_not_exists) == (True, True, False)


def test_explicit_recursion_is_left_to_the_planner():
    query = "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 9) r (a int) AS (SELECT 1) SELECT * FROM r"
    statement = one(f"CREATE VIEW v AS {query}")
    assert isinstance(statement, CreateView)
    assert statement.query == Excerpt(query, 1, 18)
    assert statement.column_names == ()


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("CREATE VIEW v", "AS and a query are missing", 13),
        ("CREATE VIEW v AS", "the view has no query", 15),
        ("CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE VIEW with TEMPORARY is not supported", 8),
    ],
)
def test_views_that_cannot_be(sql: str, message: str, column: int):
    error = refusal(sql)
    assert (error.message, error.line, error.column) == (message, 1, column)


# DROP


def test_drop():
    table, view = parse_script("DROP TABLE IF EXISTS T; DROP MATERIALIZED VIEW v")
    assert isinstance(table, DropTable) and (table.names, table.if_exists) == (("t",), True)
    assert isinstance(view, DropView) and (view.names, view.if_exists) == (("v",), False)


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("DROP DATABASE d", "DROP DATABASE is not supported", 1),
        ("DROP TABLE t PURGE", "DROP ... PURGE is not supported", 14),
    ],
)
def test_drops_that_are_refused(sql: str, message: str, column: int):
    error = refusal(sql)
    assert (error.code, error.message, error.column) == ("unsupported_sql", message, column)


# INSERT, UPDATE, DELETE, SELECT


@pytest.mark.parametrize("name", ["v", '"V w"', "s.v (a)"])
def test_a_view_of_materialize_may_be_in_a_cluster(name: str):
    of_cluster, plain = (
        one(f"CREATE MATERIALIZED VIEW {name} {where}AS SELECT 1 AS cluster", "materialize")
        for where in ("IN CLUSTER quickstart ", "")
    )
    assert isinstance(of_cluster, CreateView) and isinstance(plain, CreateView)
    assert of_cluster.query.text == plain.query.text == "SELECT 1 AS cluster"
    assert (of_cluster.name, of_cluster.column_names) == (plain.name, plain.column_names)
    assert refusal(f"CREATE MATERIALIZED VIEW {name} IN CLUSTER c AS SELECT 1").code == "syntax_error"


def test_insert():
    statement = one("INSERT INTO T (B, \"A\") VALUES (1, 'x')")
    assert isinstance(statement, Insert)
    assert (statement.table, statement.columns) == ("t", ("b", "A"))
    assert isinstance(statement.query, exp.Values)


@pytest.mark.parametrize(
    "sql", ["INSERT INTO t SELECT * FROM u", "WITH u AS (SELECT 1) INSERT INTO t SELECT * FROM u"]
)
def test_insert_of_a_query(sql: str):
    statement = one(sql)
    assert isinstance(statement, Insert)
    assert (statement.table, statement.columns) == ("t", ())
    assert statement.query.sql() == "SELECT * FROM u"


def test_update_and_delete():
    update, delete = parse_script('UPDATE T SET a = 1; DELETE FROM "T" WHERE a = 1')
    assert isinstance(update, Update) and update.table == "t"
    assert isinstance(delete, Delete) and delete.table == "T"


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "TABLE t", "VALUES (1)", "WITH a AS (SELECT 1) TABLE a", "(SELECT 1) UNION SELECT 2"]
)
def test_every_query_is_a_select(sql: str):
    assert isinstance(one(sql), Select)


@pytest.mark.parametrize(
    ("sql", "message", "column"),
    [
        ("SELECT a INTO u FROM t", "SELECT ... INTO is not supported", 10),
        (
            "CREATE TABLE t (a TIMESTAMP, WATERMARK FOR a AS a)",
            "WATERMARK of a table that is not APPEND ONLY is not supported",
            30,
        ),
        ("SELECT a FROM t FOR UPDATE", "SELECT ... FOR UPDATE is not supported", 17),
        ("INSERT INTO t (a, A) VALUES (1, 2)", "column a is named twice", 19),
        (
            "WITH MUTUALLY RECURSIVE r (a int) AS (SELECT 1) SELECT * FROM r",
            "WITH MUTUALLY RECURSIVE outside a view is not supported",
            1,
        ),
    ],
)
def test_parts_of_statements_that_are_refused(sql: str, message: str, column: int):
    error = refusal(sql)
    assert (error.message, error.column) == (message, column)


# EXPLAIN, SHOW, BEGIN, COMMIT


@pytest.mark.parametrize(
    ("sql", "stage", "query", "view"),
    [
        ("EXPLAIN SELECT ';'", None, Excerpt("SELECT ';'", 1, 9), None),
        ("EXPLAIN LOGICAL (SELECT 1)", "logical", Excerpt("(SELECT 1)", 1, 17), None),
        (
            "explain dataflow with a as (select 1) table a",
            "dataflow",
            Excerpt("with a as (select 1) table a", 1, 18),
            None,
        ),
        ("EXPLAIN OPTIMIZED CREATE VIEW v AS SELECT 2", "optimized", Excerpt("SELECT 2", 1, 36), None),
        ("EXPLAIN VIEW V", None, None, "v"),
        ('EXPLAIN LOGICAL "V"', "logical", None, "V"),
        ("EXPLAIN ANALYZE v", "analyze", None, "v"),
        ("EXPLAIN ANALYZE SELECT 1", "analyze", Excerpt("SELECT 1", 1, 17), None),
    ],
)
def test_explain(sql: str, stage: str | None, query: Excerpt | None, view: str | None):
    statement = one(sql)
    assert isinstance(statement, Explain)
    assert (statement.stage, statement.query, statement.view) == (stage, query, view)


def test_show():
    assert [type(s) for s in parse_script("SHOW TABLES; show views")] == [ShowTables, ShowViews]


@pytest.mark.parametrize("sql", ["BEGIN", "BEGIN TRANSACTION", "START TRANSACTION", "begin work"])
def test_begin(sql: str):
    assert isinstance(one(sql), Begin)


@pytest.mark.parametrize("sql", ["COMMIT", "COMMIT WORK", "END", "END TRANSACTION"])
def test_commit(sql: str):
    assert isinstance(one(sql), Commit)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("ALTER TABLE t ALTER a TYPE text USING a::text", "ALTER COLUMN ... TYPE ... USING is not supported"),
        ("COPY t FROM 'x'", "COPY of files without a known format is not supported"),
        ("SET a = 1", "SET is not supported"),
        ("SHOW ALL", "SHOW ALL is not supported"),
        ("EXPLAIN VERBOSE SELECT 1", "EXPLAIN VERBOSE is not supported"),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN ISOLATION LEVEL SERIALIZABLE is not supported"),
    ],
)
def test_other_statements_are_refused_by_name(sql: str, message: str):
    error = refusal(sql)
    assert (error.code, error.message, error.line) == ("unsupported_sql", message, 1)


@pytest.mark.parametrize(
    "dialect", ["mysql", "bigquery", "snowflake", "spark", "duckdb", "tsql", "sqlite", "clickhouse"]
)
def test_the_statements_are_the_same_in_every_dialect(dialect: str):
    script = """
        CREATE TABLE t (a int, b varchar(10) NOT NULL, PRIMARY KEY (a));
        BEGIN; INSERT INTO t VALUES (1, 'x'); UPDATE t SET b = 'y'; DELETE FROM t; COMMIT;
        CREATE MATERIALIZED VIEW v AS SELECT a FROM t;
        EXPLAIN SELECT ';'; SHOW TABLES; SELECT 1; DROP VIEW v; DROP TABLE t
    """
    changing = [CreateTable, Begin, Insert, Update, Delete, Commit, CreateView]
    kinds = [type(statement) for statement in parse_script(script, dialect)]
    assert kinds == [*changing, Explain, ShowTables, Select, DropView, DropTable]
