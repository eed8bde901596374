"""Erroneous queries in several dialects: the code, the place, the message and the hint of each."""

from __future__ import annotations

import pytest

from planner.errors import PlannerError
from tests.planner.samples import planned

IN_REACH = "visible columns: a, b, c"


def or_text(name: str) -> str:
    """The hint for a bare name that resembles no column."""
    return f"{IN_REACH}; a text is written '{name}'"


@pytest.mark.parametrize(
    ("dialect", "sql", "code", "place", "message", "hint"),
    [
        # names of columns
        ("postgres", "SELECT aa FROM t", "unknown_column", (1, 8), 'unknown column "aa"', or_text("aa")),
        ("postgres", "SELECT x.nots FROM days x", "unknown_column", (1, 8), 'table "x" has no column "nots"',
         "did you mean x.note?"),
        ("postgres", "SELECT id FROM days\nWHERE nte = 'x'", "unknown_column", (2, 7), 'unknown column "nte"',
         "did you mean days.note?"),
        ("postgres", "SELECT t.nope FROM t", "unknown_column", (1, 8),
         'table "t" has no column "nope"', IN_REACH),
        ("postgres", "SELECT note FROM t", "unknown_column", (1, 8), 'unknown column "note"',
         'column "note" is in days, not in FROM'),
        ("postgres", "SELECT a FROM t, u", "ambiguous_column", (1, 8), 'column "a" is ambiguous',
         "write one of t.a, u.a"),
        ("postgres", "SELECT t.a AS x FROM t JOIN u ON x = u.a", "unknown_column", (1, 34),
         'unknown column "x"',
         '"x" is defined in the select list, which comes after ON'),
        ("postgres", "SELECT * FROM days EXCEPT SELECT *\nFROM days x WHERE x.dya > '2020-01-01'",
         "unknown_column",
         (2, 19), 'table "x" has no column "dya"', "did you mean x.day?"),
        ("postgres", "SELECT id FROM days JOIN u USING (nte)", "unknown_column", (1, 35),
         'column "nte" in USING is not on both sides', "did you mean note?"),
        ("postgres", "SELECT id FROM days ORDER BY nte", "unknown_column", (1, 30), 'unknown column "nte"',
         "did you mean days.note?"),
        ("postgres", "WITH x AS (SELECT note FROM days) SELECT nte FROM x", "unknown_column", (1, 42),
         'unknown column "nte"', "did you mean x.note?"),
        ("postgres", "SELECT rank() OVER (ORDER BY nte) FROM days", "unknown_column", (1, 30),
         'unknown column "nte"', "did you mean days.note?"),
        ("mysql", "SELECT `a`,\n  `bb` FROM `t`", "unknown_column", (2, 3),
         'unknown column "bb"', or_text("bb")),
        ("bigquery", "SELECT a FROM t WHERE\n  SAFE_CAST(bb AS INT64) = 1", "unknown_column", (2, 13),
         'unknown column "bb"', or_text("bb")),
        ("snowflake", "SELECT a, IFF(nte > 'x', 1, 2) FROM days, t", "unknown_column", (1, 15),
         'unknown column "nte"', "did you mean days.note?"),
        ("tsql", "SELECT TOP 3 [a], [dd] FROM [t]", "unknown_column", (1, 19),
         'unknown column "dd"', or_text("dd")),
        ("duckdb", "FROM days SELECT nte", "unknown_column", (1, 18), 'unknown column "nte"',
         "did you mean days.note?"),
        # names of tables
        ("postgres", "SELECT a FROM dayz", "unknown_table", (1, 15), 'unknown table "dayz"',
         "did you mean days?"),
        ("postgres", "SELECT k.q FROM t", "unknown_table", (1, 8), 'no table "k" is visible here',
         '"k" is not in FROM'),
        ("postgres", "SELECT dys.id FROM days", "unknown_table", (1, 8), 'no table "dys" is visible here',
         "did you mean days?"),
        ("postgres", "SELECT d.* FROM days", "unknown_table", (1, 8), 'no table "d" is visible here',
         "visible are days"),
        ("postgres", "WITH cte AS (SELECT 1 AS o)\nSELECT *\nFROM ctee", "unknown_table", (3, 6),
         'unknown table "ctee"', "did you mean cte?"),
        ("spark", "SELECT a FROM t JOIN dayss ON true", "unknown_table", (1, 22), 'unknown table "dayss"',
         "did you mean days?"),
        # functions and types
        ("postgres", "SELECT a,\n  lenght(b)\nFROM t", "unknown_function", (2, 3),
         'unknown function "lenght"',
         "did you mean length?"),
        ("spark", "SELECT a,\n\tconcat_wss('-', b) FROM t", "unknown_function", (2, 2),
         'unknown function "concat_wss"', "did you mean concat_ws?"),
        ("bigquery", "SELECT FORMAT_DAT(day) FROM days", "unknown_function", (1, 8),
         'unknown function "format_dat"', "did you mean format_date?"),
        ("postgres", "SELECT zzzzzz(b) FROM t", "unknown_function", (1, 8), 'unknown function "zzzzzz"',
         "the SQL reference lists the supported functions"),
        ("postgres", "SELECT CAST(a AS INTEGR) FROM t", "unsupported_sql", (1, 18),
         "type INTEGR is not supported", "did you mean INTEGER?"),
        # the rest
        ("postgres", "SELECT b, count(*) FROM t GROUP BY a", "invalid_query", (1, 8),
         'column "b" must be in GROUP BY or inside an aggregate function',
         "add it to GROUP BY, or use min(b)"),
        ("postgres", "SELECT sum(a) FROM t WHERE sum(a) > 1", "invalid_query", (1, 28),
         "WHERE cannot contain an aggregate: SUM(a)", "write the condition in HAVING"),
        ("postgres", "SELECT a FROM t WHERE b", "type_mismatch", (1, 23), "WHERE is TEXT, not BOOLEAN", ""),
        ("postgres", "SELECT a FROM t WHERE a = (SELECT a, d FROM u)", "invalid_query", (1, 35),
         "a query used as a value returns one column, not 2", ""),
        ("postgres", "SELECT a FROM t\nUNION\nSELECT b, c FROM t", "invalid_query", (3, 1),
         "UNION takes queries with equal numbers of columns, not 1 and 2", ""),
        ("postgres", "SELECT a FROM t GROUP BY 3", "invalid_query", (1, 26),
         "GROUP BY 3 is not a position in the select list", ""),
        ("postgres", "SELECT a,\n  random() FROM t", "unsupported_sql", (2, 3),
         "RANDOM() is not deterministic, so a view over it cannot be maintained",
         "write the value as a constant, or keep it in a table"),
        ("postgres", "SELECT a FROM t TABLESAMPLE (10)", "unsupported_sql", (1, 17),
         "TABLESAMPLE is not supported in a view",
         "a sample is a function of its rows with a seed: REPEATABLE (1)"),
        ("postgres", "SELECT FROM t WHERE", "syntax_error", (1, 15),
         'syntax error at or near "WHERE"', "an expression is missing"),
        ("postgres", "SELECT a\nFROM t WHERE b = \"paid\"", "unknown_column", (2, 18),
         'unknown column "paid"', or_text("paid")),
        # syntax
        ("postgres", "SELCT a FROM t", "syntax_error", (1, 1), 'syntax error at or near "SELCT"',
         "did you mean SELECT?"),
        ("postgres", "SELECT a FORM t", "syntax_error", (1, 10), 'syntax error at or near "FORM"',
         "did you mean FROM?"),
        ("postgres", "SELECT a FROM t\nWEHRE a = 1", "syntax_error", (2, 1),
         'syntax error at or near "WEHRE"', "did you mean WHERE?"),
        ("postgres", "SELECT max(a) OVER (ORDR BY a) FROM t", "syntax_error", (1, 21),
         'syntax error at or near "ORDR"', "did you mean ORDER?"),
        ("postgres", "SELECT a FROM orders customers x", "syntax_error", (1, 32),
         'syntax error at or near "x"', ""),
        ("postgres", "SELECT a FROM (SELECT a FROM orders", "syntax_error", (1, 30),
         'syntax error at or near "orders"', "the ( in line 1, column 15 is not closed here"),
        ("postgres", "SELECT CASE WHEN a = 1 THEN 2 FROM t", "syntax_error", (1, 29),
         'syntax error at or near "2"', "expected END after CASE"),
        ("postgres", "SELECT a FROM t JOIN u", "syntax_error", (1, 17),
         'syntax error at or near "JOIN"', "a JOIN needs ON or USING"),
        ("postgres", "SELECT interval '1 foo' FROM t", "syntax_error", (1, 17),
         "syntax error at or near \"'1 foo'\"", "foo is no unit of an interval"),
        ("postgres", "SELECT a,\n  'abc FROM t", "syntax_error", (2, 3), "the ' is not closed", ""),
        ("postgres", "SELECT `a` FROM t", "syntax_error", (1, 10), 'syntax error at or near "`"',
         'a name is quoted "so" in this dialect'),
        ("postgres", "SELECT TOP 5 a FROM t", "syntax_error", (1, 12), 'syntax error at or near "5"',
         "LIMIT 5 at the end of the query takes the first rows"),
        ("postgres", "SELECT a FROM t WHERE a IN SELECT a FROM t", "syntax_error", (1, 28),
         'syntax error at or near "SELECT"', "expected ("),
        # texts beside other values
        ("postgres", "SELECT a FROM t WHERE a = '1.5'", "type_mismatch", (1, 23),
         "'1.5' is not a value of type INTEGER", ""),
        ("postgres", "SELECT a * '1.5' FROM t", "type_mismatch", (1, 8),
         "'1.5' is not a value of type INTEGER", ""),
        ("duckdb", "SELECT day - '2026-01-01' FROM days", "type_mismatch", (1, 8), "there is no DATE - TEXT",
         "cast a text to the type that is meant"),
        # functions and types
        ("postgres", "SELECT foo(a) FROM t", "unknown_function", (1, 8), 'unknown function "foo"',
         "the SQL reference lists the supported functions"),
        ("postgres", "SELECT row_number() FROM t", "invalid_query", (1, 8),
         "row_number is a window function", "write row_number() OVER (...)"),
        ("postgres", "SELECT rank(a) OVER (ORDER BY a) FROM t", "invalid_query", (1, 8),
         "rank takes no arguments", "write what orders it in OVER"),
        ("postgres", "SELECT substring(day, 1, 2) FROM days", "type_mismatch", (1, 8),
         "substring does not take (DATE, INTEGER, INTEGER)",
         "it takes (TEXT, BIGINT, BIGINT) or (TEXT, BIGINT)"),
        ("postgres", "SELECT a FROM t WHERE a LIKE 1", "type_mismatch", (1, 23),
         "there is no INTEGER LIKE INTEGER", "cast one side to the other's type"),
        ("postgres", "SELECT id + note FROM days", "type_mismatch", (1, 8),
         "there is no INTEGER + TEXT", "cast one side to the other's type"),
        ("postgres", "SELECT a FROM t WHERE count(*) > 1", "invalid_query", (1, 23),
         "WHERE cannot contain an aggregate: COUNT(*)", "write the condition in HAVING"),
        ("postgres", "SELECT CAST(a AS STRNG) FROM t", "unsupported_sql", (1, 18),
         "type STRNG is not supported", "did you mean STRING?"),
    ],
)  # fmt: skip
def test_error(dialect: str, sql: str, code: str, place: tuple[int, int], message: str, hint: str) -> None:
    with pytest.raises(PlannerError) as raised:
        planned(sql, dialect)
    error = raised.value
    assert (error.code, (error.line, error.column), error.message, error.hint) == (code, place, message, hint)
