"""Long texts: planned in another process, with the same result and the same errors."""

from __future__ import annotations

import os

import pytest

from engine.plan.nodes import Source
from engine.schema import BIGINT, Column, Schema
from planner import long_texts
from planner.adhoc.adhoc_query import adhoc_query
from planner.errors import InvalidSyntax, PlannerError, SqlTooLarge, UnknownColumn, UnknownTable
from planner.explain import explain
from planner.limits import DEFAULT, PlanningLimits, within
from planner.long_texts import LONG, is_long_query, long_query, plan_text
from planner.parsing.script import Piece, split
from planner.planning import plan_query
from planner.relation import Relation
from planner.statements.statement_reader import parse_statement

SCHEMA = Schema((Column("a", BIGINT), Column("b", BIGINT)))
CATALOG = {"t": Relation("t", SCHEMA, Source("t", SCHEMA))}
LIST = ", ".join(map(str, range(10_000)))
QUERY = f"SELECT a, b FROM t WHERE a IN ({LIST})"


def piece(sql: str) -> Piece:
    return split(sql)[0]


def test_a_plan_is_the_same() -> None:
    assert len(QUERY) > LONG
    planned, here = plan_text(QUERY, CATALOG, "postgres", DEFAULT), plan_query(QUERY, CATALOG)
    assert planned.plan == here.plan
    assert hash(planned.plan) == hash(here.plan)
    assert (planned.schema, planned.sql, planned.reads) == (here.schema, here.sql, here.reads)
    assert explain(planned, "logical") == explain(here, "logical")


def test_long_texts_are_not_planned_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_texts, "plan_query", _process)
    assert plan_text(QUERY, CATALOG, "postgres", DEFAULT) != os.getpid()  # type: ignore[comparison-overlap]
    assert plan_text("short", CATALOG, "postgres", DEFAULT) == os.getpid()  # type: ignore[comparison-overlap]


def _process(*arguments: object) -> int:
    return os.getpid()


@pytest.mark.parametrize(
    ("sql", "error", "place"),
    [
        (QUERY + " AND c = 1", UnknownColumn, (1, len(QUERY) + 6)),
        (QUERY.replace("FROM t", "\nFROM u"), UnknownTable, (2, 6)),
        (QUERY + " AND AND", InvalidSyntax, None),
    ],
)
def test_errors_have_their_places(sql: str, error: type[PlannerError], place: tuple[int, int] | None) -> None:
    with pytest.raises(error) as there:
        plan_text(sql, CATALOG, "postgres", DEFAULT)
    with pytest.raises(error) as here:
        plan_query(sql, CATALOG)
    assert vars(there.value) == vars(here.value)
    if place is not None:
        assert (there.value.line, there.value.column) == place


@pytest.mark.parametrize(
    ("sql", "is_query"),
    [
        (QUERY, True),
        (f"({QUERY})", True),
        (f"VALUES ({LIST})", True),
        (f"WITH x AS ({QUERY}) SELECT * FROM x", True),
        (f"WITH RECURSIVE x AS (SELECT 1 UNION {QUERY}) SELECT * FROM x", True),
        (f"INSERT INTO t {QUERY}", False),
        (f"WITH x AS ({QUERY}) INSERT INTO t SELECT * FROM x", False),
        (f"WITH x AS ({QUERY}) DELETE FROM t", False),
        (f"CREATE VIEW v AS {QUERY}", False),
        (f"EXPLAIN {QUERY}", False),
        ("SELECT 1", False),
        ("SELECT a FROM t -- " + LIST, False),
    ],
)
def test_which_statements_are_long_queries(sql: str, is_query: bool) -> None:
    assert is_long_query(piece(sql)) is is_query


@pytest.mark.parametrize("sql", [QUERY, f"SELECT 1; \n{QUERY} AND b = 2 ORDER BY a"])
def test_an_ad_hoc_query_is_the_same(sql: str) -> None:
    last = split(sql)[-1]
    with within(DEFAULT):
        there = long_query(last, CATALOG)
        here = adhoc_query(parse_statement(last).query.copy(), CATALOG)  # type: ignore[attr-defined]
    assert there == here


def test_an_ad_hoc_query_over_the_limits() -> None:
    with within(PlanningLimits(memory=1 << 20)), pytest.raises(SqlTooLarge, match="MiB of memory"):
        long_query(piece(QUERY), CATALOG)
    with within(DEFAULT), pytest.raises(UnknownTable):
        long_query(piece(QUERY.replace("FROM t", "FROM u")), CATALOG)
