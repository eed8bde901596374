"""What other dialects call what the planner has."""

from __future__ import annotations

import pytest

from planner import PlannerError
from planner.explain import explain
from tests.oracle.referee import same_bag
from tests.planner.samples import answer, planned, referee

ALIKE = [
    (
        "spark",
        "SELECT * FROM t LEFT SEMI JOIN u ON t.a = u.a",
        "SELECT * FROM t WHERE a IN (SELECT a FROM u)",
    ),
    (
        "spark",
        "SELECT b FROM t LEFT ANTI JOIN u ON t.a = u.a",
        "SELECT b FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE t.a = u.a)",
    ),
    ("bigquery", "SELECT * EXCEPT (c) FROM t", "SELECT a, b FROM t"),
    ("snowflake", "SELECT * ILIKE '%A%' RENAME a AS z FROM t", "SELECT a FROM t"),
    (
        "snowflake",
        "SELECT k.id, u.d FROM k ASOF JOIN u MATCH_CONDITION (k.id >= u.a)",
        "SELECT k.id, (SELECT d FROM u WHERE k.id >= u.a ORDER BY a DESC, d LIMIT 1) FROM k",
    ),
    (
        "snowflake",
        "SELECT k.id, u.d FROM k ASOF JOIN u MATCH_CONDITION (k.q <= u.d) ON k.id = u.a",
        "SELECT k.id, (SELECT min(d) FROM u WHERE u.a = k.id AND k.q <= d) FROM k",
    ),
    (
        "tsql",
        "SELECT TOP 2 a, b FROM t ORDER BY a DESC, b DESC",
        "SELECT a, b FROM t ORDER BY 1 DESC NULLS LAST, 2 DESC LIMIT 2",
    ),
    (
        "mysql",
        "SELECT a FROM t ORDER BY a LIMIT 1, 3",
        "SELECT a FROM t ORDER BY a NULLS FIRST LIMIT 3 OFFSET 1",
    ),
    (
        "bigquery",
        "SELECT a, e, o FROM t, UNNEST([a, 7]) AS e WITH OFFSET AS o",
        "SELECT a, a, 0 FROM t UNION ALL SELECT a, 7, 1 FROM t",
    ),
    (
        "bigquery",
        "SELECT e FROM UNNEST(GENERATE_ARRAY(1, 7, 3)) AS e",
        "SELECT unnest([1, 4, 7])",
    ),
    (
        "spark",
        "SELECT a, p, e FROM t LATERAL VIEW posexplode(array(b, 'z')) x AS p, e",
        "SELECT a, 0, b FROM t UNION ALL SELECT a, 1, 'z' FROM t",
    ),
    (
        "spark",
        "SELECT a, e FROM t LATERAL VIEW OUTER explode(sequence(2, a)) x AS e",
        "SELECT a, e FROM t LEFT JOIN LATERAL"
        " (SELECT unnest(generate_series(2, a, CASE WHEN a < 2 THEN -1 ELSE 1 END)) AS e) ON TRUE",
    ),
    ("spark", "SELECT a, explode(array(a, 1)) AS e FROM t", "SELECT a, unnest([a, 1]) FROM t"),
    (
        "snowflake",
        "SELECT a, f.index, f.value FROM t, LATERAL FLATTEN(INPUT => [a, 5]) f",
        "SELECT a, 0, a FROM t UNION ALL SELECT a, 1, 5 FROM t",
    ),
    (
        "presto",
        "SELECT a, e, n FROM t CROSS JOIN UNNEST(ARRAY[a, 2]) WITH ORDINALITY AS x (e, n)",
        "SELECT a, a, 1 FROM t UNION ALL SELECT a, 2, 2 FROM t",
    ),
    (
        "duckdb",
        "SELECT a, i FROM t, range(a) r (i), unnest([1]) u (x)",
        "SELECT a, unnest(range(a)) FROM t",
    ),
    (
        "bigquery",
        "SELECT a, b FROM t FULL OUTER UNION ALL BY NAME SELECT d, a FROM u",
        "SELECT a, b, NULL AS d FROM t UNION ALL SELECT a, NULL, d FROM u",
    ),
    (
        "bigquery",
        "SELECT a, b FROM t LEFT UNION ALL BY NAME SELECT d, a FROM u",
        "SELECT a, b FROM t UNION ALL SELECT a, NULL FROM u",
    ),
]


@pytest.mark.parametrize(("dialect", "sql", "reference"), ALIKE)
def test_means_the_same(dialect: str, sql: str, reference: str) -> None:
    assert same_bag(answer(planned(sql, dialect)), referee().rows(reference, "duckdb"))


def test_a_first_row_as_a_value_is_one_top_by_the_key() -> None:
    text = explain(
        planned("SELECT id, (SELECT b FROM t WHERE a = k.id ORDER BY c LIMIT 1) FROM k"), "dataflow"
    )
    assert text.count(" top ") == 1
    assert "reduce" not in text


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT a FROM t WHERE unnest([1]) = a", "UNNEST is not supported in WHERE"),
        ("SELECT sum(unnest([a])) FROM t", "UNNEST is not supported in an aggregate"),
        ("SELECT * FROM t, unnest(t.a)", "UNNEST takes arrays and maps, not INTEGER"),
        ("SELECT * FROM range(1.5, 2.5)", "takes whole numbers or timestamps"),
        ("SELECT * FROM t POSITIONAL JOIN u", "POSITIONAL JOIN is not supported"),
        ("SELECT * FROM t ASOF JOIN u ON t.a = u.a", "ASOF JOIN needs one inequality"),
        ("SELECT * FROM t ASOF JOIN u ON t.a > u.a AND t.c < u.d", "ASOF JOIN needs one inequality"),
        ("SELECT * FROM t ASOF RIGHT JOIN u ON t.a > u.a", "ASOF RIGHT JOIN is not supported"),
        ("SELECT * EXCLUDE (zz) FROM t", 'has no column "zz"'),
        ("SELECT * REPLACE (1 AS zz) FROM t", 'has no column "zz"'),
        ("SELECT COLUMNS('zz') FROM t", "no column's name matches 'zz'"),
        ("SELECT COLUMNS('(') FROM t", "COLUMNS has an invalid pattern"),
        ("SELECT COLUMNS(c -> c LIKE 'z%') FROM t", "no column's name meets the condition"),
        ("SELECT COLUMNS(c -> c LIKE a) FROM t", "this condition of COLUMNS is not supported"),
        ("SELECT COLUMNS(['a', 'zz']) FROM t", 'COLUMNS lists "zz"'),
        ("SELECT COLUMNS(a + 1) FROM t", "COLUMNS of anything but"),
        ("SELECT *COLUMNS('a') FROM t", "stands for arguments of a call"),
        ("SELECT nullif(*COLUMNS('a|b'), 1) FROM t", "a call with a fixed number of arguments"),
        ("SELECT a, a FROM t UNION BY NAME SELECT a FROM u", "occurs twice"),
        ("SELECT a FROM t LIMIT 150%", "between 0 and 100"),
        ("SELECT a FROM t LIMIT -5%", "between 0 and 100"),
        ("SELECT DISTINCT a FROM t ORDER BY c LIMIT 10%", "a limit in percent in this order"),
        ("SELECT a FROM t JOIN u USING (a) USING SAMPLE 10 PERCENT (bernoulli, 3)", "a sample of a join"),
    ],
)
def test_what_is_wrong(sql: str, message: str) -> None:
    with pytest.raises(PlannerError, match=message.replace("(", r"\(")):
        planned(sql, "duckdb")
