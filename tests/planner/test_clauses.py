"""Clauses of a SELECT have one order; a query with another is told where."""

from __future__ import annotations

import pytest

from planner.errors import InvalidSyntax
from planner.parsing.parse import parse_statements
from planner.parsing.script import split


@pytest.mark.parametrize(
    ("sql", "dialect", "message", "place"),
    [
        ("SELECT a FROM t GROUP BY a WHERE a > 1", "postgres", "WHERE stands after GROUP BY", (1, 28)),
        ("SELECT a FROM t\nHAVING a > 1\nGROUP BY a", "postgres", "GROUP BY stands after HAVING", (3, 1)),
        ("SELECT a FROM t ORDER BY a WHERE a > 1", "duckdb", "WHERE stands after ORDER BY", (1, 28)),
        ("SELECT a FROM t LIMIT 3 ORDER BY a", "mysql", "ORDER BY stands after LIMIT", (1, 25)),
        ("SELECT a FROM t ORDER BY a GROUP BY a", "snowflake", "GROUP BY stands after ORDER BY", (1, 28)),
        ("SELECT a FROM t LIMIT 3 HAVING a > 1", "bigquery", "HAVING stands after LIMIT", (1, 25)),
        ("SELECT 1; SELECT a FROM t GROUP BY a WHERE a > 1", "postgres", "WHERE stands", (1, 38)),
        ("SELECT * FROM (SELECT a FROM t GROUP BY a WHERE a > 1) x", "postgres", "WHERE stands", (1, 43)),
        ("WITH c AS (SELECT a FROM t LIMIT 1 WHERE a > 1) SELECT * FROM c", "postgres", "WHERE", (1, 36)),
        ("SELECT 1 UNION SELECT a FROM t GROUP BY a WHERE a > 1", "postgres", "WHERE stands", (1, 43)),
        ("SELECT (SELECT max(a) FROM t GROUP BY b WHERE b > 1) FROM t", "postgres", "WHERE stands", (1, 41)),
        ("CREATE VIEW v AS SELECT a FROM t GROUP BY a WHERE a > 1", "postgres", "WHERE stands", (1, 45)),
        ("INSERT INTO u SELECT a FROM t GROUP BY a WHERE a > 1", "postgres", "WHERE stands", (1, 42)),
        ("SELECT * EXCEPT (a) FROM t GROUP BY ALL WHERE b > 1", "bigquery", "WHERE stands", (1, 41)),
    ],
)  # fmt: skip
def test_clauses_out_of_order(sql: str, dialect: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(InvalidSyntax) as refused:
        parse_statements(sql, dialect)
    assert refused.value.message.startswith(message)
    assert (refused.value.line, refused.value.column) == place
    assert "the order is SELECT, FROM, WHERE" in refused.value.hint


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT a FROM t WHERE b > 1 GROUP BY a HAVING count(*) > 1 ORDER BY a LIMIT 3", "postgres"),
        ("SELECT a FROM t WHERE a IS DISTINCT FROM b GROUP BY a", "postgres"),
        ("SELECT a FROM t WHERE EXTRACT(year FROM d) > 1 AND trim(BOTH 'x' FROM s) = ''", "postgres"),
        ("SELECT string_agg(a, ',' ORDER BY a) FILTER (WHERE a > '') FROM t", "postgres"),
        ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t WHERE a > 1", "postgres"),
        ("SELECT sum(a) OVER (ORDER BY a) FROM t WHERE a > 1 ORDER BY a", "postgres"),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM u GROUP BY b ORDER BY b LIMIT 1) GROUP BY a", "postgres"),
        ("SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 2 FOR UPDATE", "postgres"),
        ("(SELECT a FROM t ORDER BY a LIMIT 1) UNION (SELECT a FROM t WHERE a > 1) ORDER BY 1", "postgres"),
        ("SELECT a FROM t GROUP BY a EXCEPT SELECT a FROM t WHERE a > 1", "postgres"),
        ("INSERT INTO u SELECT a FROM t LIMIT 1 ON CONFLICT (a) DO UPDATE SET b = 1 WHERE a > 1", "postgres"),
        ("INSERT INTO u SELECT a FROM t LIMIT 1 RETURNING a", "postgres"),
        ("UPDATE t SET a = (SELECT max(b) FROM u GROUP BY c) FROM u WHERE t.a = u.a", "postgres"),
        ("DELETE FROM t USING u WHERE t.a = u.a", "postgres"),
        ('SELECT a AS "where", x.group FROM t x WHERE a > 1', "postgres"),
        ("FROM t SELECT a WHERE a > 1 ORDER BY a", "duckdb"),
        ("FROM t WHERE a > 1", "duckdb"),
        ("SELECT a FROM t WINDOW w AS (ORDER BY a) QUALIFY row_number() OVER w = 1 ORDER BY a", "duckdb"),
        ("FROM t |> WHERE a > 1 |> SELECT a |> WHERE a > 2 |> ORDER BY a |> LIMIT 3", "bigquery"),
        ("SELECT x FROM UNNEST([1]) AS x WITH OFFSET AS o WHERE o > 0", "bigquery"),
        ("SELECT a FROM t WHERE a > 1 ORDER BY a OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY", "tsql"),
        ("SELECT 'GROUP BY' /* LIMIT */ FROM t WHERE a > 1 -- ORDER BY", "postgres"),
        ("SELECT a FROM t WHERE a > 1; SELECT a FROM t WHERE a > 2", "postgres"),
    ],
)  # fmt: skip
def test_clauses_in_order(sql: str, dialect: str) -> None:
    parse_statements(sql, dialect)


def test_a_statement_of_a_script_is_checked_too() -> None:
    (piece,) = split("SELECT count(*) FROM t\nGROUP BY x WHERE y", "postgres")
    with pytest.raises(InvalidSyntax, match="WHERE stands after GROUP BY") as caught:
        piece.parse()
    assert (caught.value.line, caught.value.column) == (2, 12)
