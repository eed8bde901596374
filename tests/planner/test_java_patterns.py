"""Replacements of Java's regular expressions, and clauses of Trino's JSON functions, that are refused."""

from __future__ import annotations

import pytest
from sqlglot import exp

from planner import PlannerError, plan_query
from planner.dialects.java_patterns import replaced


@pytest.mark.parametrize(
    ("written", "there"),
    [("3c$2 ", r"3c\2 "), (r"\$1", "$1"), (r"a\\b", r"a\\b"), ("plain", "plain"), ("$0", r"\0")],
)
def test_groups_are_those_of_re2(written: str, there: str) -> None:
    args = [exp.Literal.string(text) for text in ("x", "y", written)]
    texts = [literal.name for literal in replaced(args).find_all(exp.Literal)]
    assert there in texts


@pytest.mark.parametrize(
    ("dialect", "sql", "what"),
    [
        ("spark", "regexp_replace('a', 'b', upper('c'))", "computed replacement"),
        ("trino", "regexp_replace('a', '(?<n>a)', '${n}')", "this $ in a replacement"),
        ("trino", "json_value('{}', 'lax $.a' RETURNING BIGINT)", "clauses in JSON_VALUE"),
        ("trino", "json_exists('{}', 'strict $.a')", "the path 'strict $.a'"),
        ("trino", "bit_count(7, 1)", "from 2 to 64"),
    ],
)
def test_what_has_no_translation_is_refused(dialect: str, sql: str, what: str) -> None:
    with pytest.raises(PlannerError, match=what.replace("$", r"\$")):
        plan_query(f"SELECT {sql} AS v", {}, dialect)
