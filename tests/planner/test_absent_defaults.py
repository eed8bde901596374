"""ClickHouse's defaults instead of NULL: which columns are NOT NULL, and what is refused."""

from __future__ import annotations

import pytest

from engine.plan.nodes import Source
from engine.schema import INTEGER, TEXT, Column, Schema
from planner import PlannerError, Relation, plan_query
from planner.statements.statement_reader import parse_script
from planner.statements.statements import CreateTable

SCHEMAS = {
    "people": Schema((Column("id", INTEGER, False), Column("name", TEXT))),
    "visits": Schema((Column("person", INTEGER, False), Column("place", TEXT, False))),
}
RELATIONS = {name: Relation(name, schema, Source(name, schema), None) for name, schema in SCHEMAS.items()}


def test_a_column_is_not_null_unless_it_is_nullable() -> None:
    text = "CREATE TABLE t (a Int32, b Nullable(Int32), c LowCardinality(Nullable(String)), d String)"
    (statement,) = parse_script(text, "clickhouse")
    assert isinstance(statement, CreateTable)
    assert [column.nullable for column in statement.columns.columns] == [False, True, True, False]


def test_other_dialects_keep_their_columns() -> None:
    (statement,) = parse_script("CREATE TABLE t (a INTEGER)", "postgres")
    assert isinstance(statement, CreateTable)
    assert statement.columns.columns[0].nullable


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT name FROM people ANY LEFT JOIN visits ON id = person", "ANY JOIN"),
        ("SELECT place FROM people RIGHT SEMI JOIN visits ON id = person", "RIGHT SEMI JOIN"),
        ("SELECT arrayMap(x -> length(x), ['a']) AS v", "length of the variable"),
        ("SELECT toTimeZone(toDateTime('2024-01-01 00:00:00'), 'Asia/Tokyo') AS v", "keeps no zone"),
        ("SELECT toDateTime('2024-01-01 00:00:00', 'Asia/Tokyo') AS v", "keeps no zone"),
        ("SELECT id FROM people SETTINGS join_use_nulls = 1", "SETTINGS"),
        ("SELECT quantileTDigest(0.5)(id) AS v FROM people", "quantileTDigest"),
        ("SELECT sumState(id) AS v FROM people", "sumState"),
        ("SELECT tuplePlus(tuple(1), (1, 2)) AS v", "other numbers"),
    ],
)
def test_what_has_no_answer_here_is_refused(sql: str, what: str) -> None:
    with pytest.raises(PlannerError, match=what):
        plan_query(sql, RELATIONS, "clickhouse")


@pytest.mark.parametrize("combined", ["minOrNullIf(id, id > 1)", "minIfOrNull(id, id > 1)"])
@pytest.mark.parametrize("over", ["", " OVER (ORDER BY id)"])
def test_an_aggregate_with_two_combinators_is_one_with_filter(combined: str, over: str) -> None:
    only = f"FILTER (WHERE id > 1){over}"
    spelled = f"CASE WHEN count(id) {only} > 0 THEN min(id) {only} END"
    plans = [
        plan_query(f"SELECT {call} AS v FROM people", RELATIONS, "clickhouse").plan
        for call in (f"{combined}{over}", f"minOrNull(id) {only}", spelled)
    ]
    assert plans[0] == plans[1] == plans[2]
