"""What the planner refuses: code, message and place of each."""

from __future__ import annotations

import re

import pytest

from planner import PlannerError
from tests.planner.samples import planned

UNSUPPORTED = [
    ("SELECT a FROM t LIMIT (SELECT ^1)", "LIMIT by an expression that is not a constant"),
    (
        "SELECT a, x.b FROM k, LATERAL (SELECT a, b FROM t LIMIT ^k.id) AS x",
        "LIMIT by an expression that is not a constant",
    ),
    ("VALUES (1) ^FETCH FIRST 10 PERCENT ROWS ONLY", "a LIMIT in percent"),
    (
        "WITH RECURSIVE r AS (SELECT src FROM edges UNION ALL SELECT * FROM (SELECT e.dst FROM r JOIN edges "
        "AS e ON e.src = r.src ORDER BY e.w LIMIT ^1) AS x) SELECT * FROM r",
        "LIMIT in the step of a recursion",
    ),
    ("SELECT a FROM t WHERE ^unnest(ARRAY[1, 2]) = a", "UNNEST is not supported in WHERE"),
    ("SELECT * FROM ^json_tree('[]') x", "table function json_tree"),
    ("SELECT a, ^now() FROM t", "changes every row at every instant"),
    ("SELECT a, ^random() FROM t", "not deterministic"),
    ("SELECT a FROM t WHERE c > 1 AND ^clock_timestamp() > '2020-01-01'", "not deterministic"),
    ("SELECT ^gen_random_uuid()", "not deterministic"),
    ("SELECT a::^hstore FROM t", "type HSTORE"),
    ("SELECT ^t FROM t", "all of its columns may be NULL"),
    ("SELECT ^doc @> doc FROM things", "a search for JSON that is not a constant"),
    ("SELECT a, ^string_agg(b, ',' ORDER BY c LIMIT 2) FROM t GROUP BY a", "string_agg with LIMIT inside"),
    ("SELECT ^reservoir_quantile(a, 0.5) FROM t", "aggregate function reservoir_quantile"),
    ("SELECT (SELECT ^sum(t.a)) FROM t", "an aggregate over an outer query's columns"),
    (
        "WITH RECURSIVE r (n) AS (SELECT INTERVAL '1 day' UNION SELECT n + n FROM r) CYCLE ^n SET c USING p "
        "TABLE r",
        "CYCLE with a column of type INTERVAL",
    ),
    (
        "WITH RECURSIVE r (n, t) AS (SELECT 1, 'a' UNION SELECT n, t FROM r) SEARCH DEPTH FIRST BY ^n, t "
        "SET o TABLE r",
        "SEARCH BY columns of several types",
    ),
    (
        "WITH RECURSIVE r (n) AS (SELECT 1.5 UNION SELECT n + 1 FROM r) SEARCH BREADTH FIRST BY ^n "
        "SET o TABLE r",
        "SEARCH BREADTH FIRST BY a NUMERIC",
    ),
    ("WITH RECURSIVE ^r (n) AS (SELECT 1) CYCLE n SET c USING p TABLE r", "does not alone refer to itself"),
    (
        "WITH RECURSIVE ^r (n) AS (SELECT 1 UNION SELECT n FROM s) CYCLE n SET c USING p, "
        "s (n) AS (SELECT 1 UNION SELECT n FROM r) TABLE r",
        "does not alone refer to itself",
    ),
    ("SELECT * FROM t ^TABLESAMPLE BERNOULLI (10)", "TABLESAMPLE"),
    ("SELECT * FROM t ^FOR UPDATE", "FOR UPDATE"),
    ("SELECT ^$1 FROM t", "a parameter"),
    ("SELECT ^pg_sleep(1)", "pg_sleep is not supported"),
    ("SELECT extract(year FROM ^age(day)) FROM days", "not deterministic"),
    ("SELECT ^session_user", "not deterministic"),
    (
        "SELECT d.id FROM days AS d JOIN days FOR SYSTEM_TIME AS OF ^PROCTIME() AS e ON d.id = e.id",
        "the time at which a row is processed",
    ),
    (
        "SELECT d.id FROM days AS d JOIN ^days FOR SYSTEM_TIME AS OF d.day AS e ON d.id = e.id",
        "this join to versions of days",
    ),
    ("SELECT 1 FROM t ^WINDOW SESSION (60 SECONDS) WHERE a > 1 GROUP BY a", "WINDOW SESSION with WHERE"),
    ("SELECT a FROM t ^EMIT CHANGES", "EMIT CHANGES"),
    ("SELECT a FROM t GROUP BY a ^EMIT ON WINDOW CLOSE", "EMIT ON WINDOW CLOSE of a query without windows"),
]

WRONG = [
    (
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT n FROM r) CYCLE ^m SET c USING p TABLE r",
        "invalid_query",
        'CYCLE names "m", which is no column',
    ),
    (
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT n FROM r) CYCLE ^n SET n USING p TABLE r",
        "invalid_query",
        'column "n" is already in "r"',
    ),
    (
        "WITH RECURSIVE r (n) AS (SELECT 1 UNION SELECT DISTINCT n FROM r) SEARCH DEPTH FIRST BY ^n "
        "SET o TABLE r",
        "invalid_query",
        "SEARCH needs a step that is a plain SELECT",
    ),
    ("SELECT a FROM t WHERE ^b ~ '('", "invalid_query", "the pattern '(' cannot be read: missing ): ("),
    ("SELECT ^regexp_replace(b, '[z-a]', 'x') FROM t", "invalid_query", "the pattern '[z-a]' cannot be read"),
    ("SELECT a,\n  ^zz FROM t", "unknown_column", 'unknown column "zz"'),
    ("SELECT ^t.zz FROM t", "unknown_column", 'table "t" has no column "zz"'),
    ("SELECT ^x.a FROM t", "unknown_table", 'no table "x" is visible'),
    ("SELECT * FROM ^nope", "unknown_table", 'unknown table "nope"'),
    ("SELECT * FROM ^db.public.p", "unknown_table", 'unknown table "db.public.p"'),
    ("SELECT ^a FROM t, u", "ambiguous_column", 'column "a" is ambiguous'),
    ("SELECT ^nofun(a) FROM t", "unknown_function", "nofun"),
    ("SELECT ^upper(a) FROM t", "type_mismatch", "upper does not take (INTEGER)"),
    ("SELECT 1, ^a + b FROM t", "type_mismatch", "there is no INTEGER + TEXT"),
    ("SELECT a FROM t WHERE ^b", "type_mismatch", "WHERE is TEXT, not BOOLEAN"),
    ("SELECT id FROM days WHERE ^day = 'foo'", "type_mismatch", "'foo' is not a value of type DATE"),
    ("SELECT ^a, count(*) FROM t", "invalid_query", 'column "a" must be in GROUP BY'),
    ("SELECT count(*) FROM t HAVING ^a > 1", "invalid_query", 'column "a" must be in GROUP BY'),
    ("SELECT sum(^sum(a)) FROM t", "invalid_query", "cannot contain an aggregate"),
    ("SELECT a FROM t WHERE ^sum(a) > 1", "invalid_query", "WHERE cannot contain an aggregate"),
    ("SELECT a FROM t GROUP BY ^7", "invalid_query", "not a position in the select list"),
    ("SELECT a FROM t ORDER BY ^2", "invalid_query", "ORDER BY 2 is not a position"),
    ("SELECT DISTINCT a FROM t ^ORDER BY b", "invalid_query", "must be in the select list"),
    ("SELECT a FROM t GROUP BY a ORDER BY ^b", "invalid_query", 'column "b" must be in GROUP BY'),
    ("SELECT a FROM t LIMIT -^1", "invalid_query", "LIMIT is not a number of rows"),
    ("SELECT a FROM t UNION SELECT a FROM u ORDER BY ^b", "unknown_column", 'unknown column "b"'),
    ("SELECT a FROM t UNION ^SELECT a, b FROM t", "invalid_query", "equal numbers of columns"),
    ("SELECT a FROM t x, ^t x", "invalid_query", 'table name "x" occurs twice'),
    ("SELECT (SELECT ^a, b FROM t)", "invalid_query", "one column, not 2"),
    ("SELECT ^a IN (SELECT a, b FROM t) FROM t", "invalid_query", "IN compares"),
    ("SELECT ^*", "invalid_query", "* needs a FROM clause"),
    ("SELECT a FROM t WHERE a = ^1000000000000000000000000000000000000000", "type_mismatch", "is too large"),
    ("SELECT a ^FROM", "syntax_error", 'at or near "FROM"'),
    ("^SELECT FROM t", "syntax_error", "the select list is empty"),
    ("SELECT CAST(a AS numeric(x, ^2)) FROM t", "type_mismatch", "NUMERIC(X, 2) is not a type"),
    (
        "WITH MUTUALLY RECURSIVE r (n int) AS (SELECT 1) WITH ^w AS (SELECT n FROM r) SELECT * FROM w",
        "syntax_error",
        "a query has one WITH",
    ),
    ("SELECT ^day::int FROM days", "type_mismatch", "there is no cast of DATE to INTEGER"),
    (
        "WITH MUTUALLY RECURSIVE ^r (n int) AS (SELECT day FROM days) SELECT * FROM r",
        "type_mismatch",
        "there is no cast of DATE to INTEGER",
    ),
]


def _place(marked: str) -> tuple[str, int, int]:
    """The text without its ^, and the line and column where that stood."""
    before = marked[: marked.index("^")]
    return marked.replace("^", "", 1), before.count("\n") + 1, len(before.split("\n")[-1]) + 1


@pytest.mark.parametrize(("marked", "construct"), UNSUPPORTED)
def test_names_the_construct_and_its_place(marked: str, construct: str) -> None:
    sql, line, column = _place(marked)
    with pytest.raises(PlannerError) as caught:
        planned(sql)
    assert caught.value.code == "unsupported_sql"
    assert construct in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("clause", "operator", "construct"),
    [
        ("k", "UNION", "may have several rows for a key"),
        ("k, min(v)", "UNION ALL", "USING KEY with UNION ALL"),
        ("k, min(w)", "UNION", "is no column"),
        ("k, avg(v)", "UNION", "USING KEY with AVG(v)"),
    ],
)
def test_keys_of_a_recursion(clause: str, operator: str, construct: str) -> None:
    base, step = "SELECT 1, 0", "SELECT dst, v + w FROM r JOIN edges ON src = k"
    sql = f"WITH RECURSIVE r (k, v) USING KEY ({clause}) AS ({base} {operator} {step}) FROM r"
    with pytest.raises(PlannerError, match=re.escape(construct)):
        planned(sql, "duckdb")


@pytest.mark.parametrize(("marked", "code", "message"), WRONG)
def test_says_what_is_wrong_and_where(marked: str, code: str, message: str) -> None:
    sql, line, column = _place(marked)
    with pytest.raises(PlannerError) as caught:
        planned(sql)
    assert caught.value.code == code
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


def test_other_dialects_mean_their_own() -> None:
    assert [str(c.type) for c in planned("SELECT a / 2 FROM t", "duckdb").schema.columns] == [
        "DOUBLE PRECISION"
    ]
    assert [str(c.type) for c in planned("SELECT a / 2 FROM t", "postgres").schema.columns] == ["INTEGER"]
    assert planned("SELECT `a` FROM `t`", "mysql").schema.names == ("a",)


def test_the_canonical_text_plans_alike() -> None:
    sql = (
        "with mutually recursive (return at recursion limit 3) r (n int, m numeric(10, 2)) as "
        "(select 1, 2.5 union all select n + 1, m from r) select * from r -- all of it"
    )
    query = planned(sql)
    assert query.sql == (
        "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 3) r(n INTEGER, m NUMERIC(10, 2)) AS "
        "(SELECT 1, 2.5 UNION ALL SELECT n + 1, m FROM r) SELECT * FROM r"
    )
    assert planned(query.sql).plan == query.plan


def test_reads_name_what_is_referred_to_directly() -> None:
    assert planned("WITH u AS (SELECT 1 AS a) SELECT * FROM t, u WHERE t.a IN (SELECT id FROM k)").reads == {
        "t",
        "k",
    }
