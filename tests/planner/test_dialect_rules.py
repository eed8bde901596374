"""What the dialects' rules refuse, the same text in a view and ad hoc, and TRY."""

from __future__ import annotations

import re

import pytest

from engine.errors import InvalidValue
from engine.schema import INTEGER, TIMESTAMP
from planner import plan_query
from planner.adhoc.adhoc_query import adhoc_query
from planner.dialects.date_tables import FAMILIES, TABLES, UNCHECKED
from planner.dialects.dates import functions
from planner.dialects.signatures import signatures
from planner.errors import PlannerError
from planner.parsing.parse import parse_query
from planner.parsing.script import split
from tests.planner.dated import asked, duck, plain, viewed
from tests.planner.test_functions import USES


def _is_dated(sql: str) -> bool:
    words = ("DATE", "WEEK", "MONTH", "TRUNC", "LAST_DAY", "NEXT_DAY", "EXTRACT", "TIMESTAMP", "||", "TRY(")
    return any(word in sql.upper() for word in words) and "AGE(" not in sql.upper()


REFUSED = [
    ("trino", "DATEADD('day', 1, DATE '2024-01-31')", "dateadd of trino"),
    ("mysql", "DATE_TRUNC('month', NOW())", "date_trunc of mysql"),
    ("oracle", "DATEDIFF('day', DATE '2024-01-31', DATE '2024-02-01')", "datediff of oracle"),
    ("bigquery", "DATEDIFF(DATE '2024-01-31', DATE '2024-02-01')", "datediff of bigquery"),
    ("redshift", "DATEDIFF(week, '2024-01-31', '2024-02-01')", "the unit week"),
    ("snowflake", "DATEADD(nanosecond, 1, DATE '2024-01-31')", "the unit nanosecond"),
    ("snowflake", "NEXT_DAY(DATE '2024-01-31', 'someday')", "the day someday"),
    ("bigquery", "TIMESTAMP_ADD(TIMESTAMP '2024-01-31', INTERVAL 1 MONTH)", "the unit month"),
    ("bigquery", "TIMESTAMP_DIFF(TIMESTAMP '2024-01-31', TIMESTAMP '2024-01-31', ISOYEAR)",
     "the unit isoyear"),
    ("clickhouse", "age('week', toDate('2024-01-31'), toDate('2024-02-29'))", "the unit week"),
    ("clickhouse", "toStartOfMillisecond(toDate('2024-01-31'))", "tostartofmillisecond of clickhouse"),
    ("oracle", "TRUNC(DATE '2024-01-31', 'TZR')", "the format TZR"),
    ("tsql", "DATEADD(hour, 1, CAST('2024-01-31' AS DATE))", "takes no DATE"),
    ("trino", "date_add('hour', 1, DATE '2024-01-31')", "takes no DATE"),
    ("postgres", "date_trunc('century', DATE '2024-01-31')", "century"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql", "what"), REFUSED)
def test_what_nobody_has_said_is_refused(dialect: str, sql: str, what: str) -> None:
    with pytest.raises(PlannerError) as refused:
        plan_query(f"SELECT {sql} AS v", {}, dialect)
    error = refused.value
    assert what in error.message and error.hint is not None
    assert (error.line, error.column) == (1, 8)


@pytest.mark.parametrize("family", TABLES)
def test_every_unchecked_function_is_refused(family: str) -> None:
    for name in UNCHECKED - set(functions(family)):
        with pytest.raises(PlannerError):
            plan_query(f"SELECT {name}(DATE '2024-01-31', DATE '2024-02-01') AS v", {}, family)


def test_every_family_has_a_table() -> None:
    assert set(FAMILIES.values()) == set(TABLES)


@pytest.mark.parametrize("dialect", dict.fromkeys(use.dialect for use in USES if _is_dated(use.sql)))
def test_the_same_text_is_the_same_value_ad_hoc(dialect: str) -> None:
    """The functions of dates in the table of functions, asked once."""
    mine = [use for use in USES if use.dialect == dialect and _is_dated(use.sql)]
    items = ", ".join(f"{use.sql} AS v{number}" for number, use in enumerate(mine))
    (piece,) = split(f"SELECT {items}", dialect)
    answer = duck().run(adhoc_query(piece.parse(), {}), {})
    cast = duck().cast(answer, ("VARCHAR",) * len(mine)).to_pylist()[0]
    wrong = [
        (use.sql, use.here, value)
        for use, value in zip(mine, cast.values(), strict=True)
        if _moment(value) != _moment(use.here)
    ]
    assert not wrong


def _moment(text: str | None) -> object:
    """A value as both doors write it."""
    if text in (None, "NULL"):
        return None
    text = str(text).replace("T", " ") if ":" in str(text) else str(text)
    if parts := re.findall(r"(-?\d+) (y)ears?|(-?\d+) (m)onths?|(-?\d+) (d)ays?", text):
        return "P" + "".join(map("".join, parts)).upper()
    text = text.removesuffix("Z").removesuffix("+00")
    try:
        return round(float(text), 9)
    except ValueError:
        return plain({"0001-12-31 (BC)": "0000-12-31"}.get(text, text))


MEMBERS = {
    "postgres": {
        "(ARRAY[1, 2])[a]": [None, 1, None, None],
        "(ARRAY[1, 2])[-1]": [None] * 4,
    },
    "clickhouse": {
        "[1, 2][a]": [0, 1, 0, None],
        "['x'][a]": ["", "x", "", None],
        "arrayFirst(x -> x > 1, [1, 2])": [2] * 4,
        "arrayFirst(x -> x > 2, [1, 2])": [0] * 4,
        "0.1 + 0.2 = 0.3": [0] * 4,
    },
    "trino": {"0x1F + 0o17 + 1_000 + a": [1046, 1047, 1043, None], "X'1F' = X'1f'": [True] * 4},
}


@pytest.mark.parametrize("dialect", MEMBERS)
def test_members_and_literals_are_the_same_ad_hoc(dialect: str) -> None:
    rows = [(0, 0), (1, 0), (-3, 0), (None, 0)]
    given = (dialect, (INTEGER, INTEGER), rows, list(MEMBERS[dialect]))
    assert asked(*given) == viewed(*given) == list(MEMBERS[dialect].values())


def test_a_member_whose_default_is_unknown_is_an_error_ad_hoc() -> None:
    query = "SELECT map('a', {}) ['{}'] AS v"
    with pytest.raises(InvalidValue, match="mapContains"):
        _ = duck().run(adhoc_query(parse_query(query.format(1, "x"), "clickhouse"), {}), {})
    answer = duck().run(adhoc_query(parse_query(query.format(1, "a"), "clickhouse"), {}), {})
    assert answer.table.column(0).to_pylist() == [1]


TRIES = {
    "TRY(10 / a)": [None, 10, 3, None],
    "TRY(CAST(CAST(a AS VARCHAR) || 'x' AS BIGINT))": [None] * 4,
    "TRY(a * 2147483647)": [0, 2147483647, None, None],
    "COALESCE(TRY(10 / (a - 1)), -1)": [-10, -1, 5, -1],
    "TRY(CASE WHEN a = 0 THEN 1 ELSE 5 / a END)": [1, 5, 1, None],
    "TRY(CAST('{' AS BIGINT))": [None] * 4,
}


def test_try_is_null_where_a_part_fails() -> None:
    rows = [(0, None), (1, None), (3, None), (None, None)]
    for answers in (viewed, asked):
        assert answers("trino", (INTEGER, INTEGER), rows, list(TRIES)) == list(TRIES.values())


def test_try_of_a_query_is_refused() -> None:
    with pytest.raises(PlannerError, match="TRY of a query"):
        plan_query("SELECT TRY((SELECT 1)) AS v", {}, "trino")


@pytest.mark.parametrize("dialect", ["oracle", "snowflake"])
def test_calls_within_calls_stay_small(dialect: str) -> None:
    """An argument that a translation needs several times is computed once."""
    nested = "a"
    for _ in range(8):
        nested = f"ADD_MONTHS({nested}, 1)"
    for answers in (viewed, asked):
        assert answers(dialect, (TIMESTAMP, TIMESTAMP), [(None, None)], [nested]) == [[None]]


PATHS = {
    "DOC #>> '{a,0}'": "1",
    "DOC #>> '{a,1,x/y}'": "u",
    "DOC #>> '{a,-1,x/y}'": "u",
    "DOC #>> '{a,-9}'": None,
    "(DOC #> '{a,-1}') ->> 'x/y'": "u",
    """'{"-1": [[7, 8]]}'::jsonb #>> '{-1,-1,-2}'""": "7",
    "DOC #>> '{a,NULL}'": None,
    """DOC #>> '{"null"}'""": "7",
    "DOC #>> ARRAY['a', (b - b)::text]": "1",
    "DOC #>> ARRAY['a', NULL]": None,
    "DOC #>> '{a,0}'::text[]": "1",
    "(DOC #> '{a,1}') ->> 'x/y'": "u",
    "DOC #>> '{a,0}' || 'x'": "1x",
    "(json_build_object('d', DATE '2024-01-02') ->> 'd') || 'x'": "2024-01-02x",
    "json_build_array(b + 1) ->> 0": "6",
}
"""Parts of documents along paths, constant and computed."""


def test_paths_in_documents() -> None:
    document = """'{"a":[1,{"x/y":"u"}],"null":7}'::jsonb"""
    expressions = [path.replace("DOC", document) for path in PATHS]
    for answers in (viewed, asked):
        found = answers("postgres", (INTEGER, INTEGER), [(5, 5)], expressions)
        assert [rows[0] for rows in found] == list(PATHS.values())


def test_a_change_of_a_document_has_no_null_in_its_path() -> None:
    with pytest.raises(PlannerError, match="a step of this path is NULL"):
        plan_query("SELECT jsonb_set('{}', '{null}', '1') AS v", {}, "postgres")


def test_a_signature_says_which_arguments_a_function_takes() -> None:
    table = {"A | B(x, y?, z?)": "first", "A(x, y, z, w)": "second", "F(v?)": "", "G()": "", "H(a, ...)": ""}
    found = signatures(table)
    assert list(found) == ["A", "B", "F", "G", "H"]
    assert [str(each) for forms in found.values() for each in forms] == [
        "a(x[, y[, z]])",
        "a(x, y, z, w)",
        "b(x[, y[, z]])",
        "f([v])",
        "g()",
        "h(a, ...)",
    ]
    taken = [[each.meaning for each in found["A"] if each.takes(count)] for count in range(6)]
    assert taken == [[], ["first"], ["first"], ["first"], ["second"], []]
    assert [found["H"][0].takes(count) for count in (0, 1, 9)] == [False, True, True]


@pytest.mark.parametrize(
    ("dialect", "sql", "hint"),
    [
        ("clickhouse", "toDateTime64(1)", "todatetime64(value, digits[, zone]) is"),
        ("snowflake", "LAST_DAY()", "last_day(at[, unit]) is"),
        ("spark", "BTRIM('a', 'b', 'c')", "btrim(text) is; btrim(text, signs) is"),
    ],
)
def test_a_call_with_other_arguments_is_told_which_there_are(dialect: str, sql: str, hint: str) -> None:
    with pytest.raises(PlannerError) as refused:
        plan_query(f"SELECT {sql} AS v", {}, dialect)
    assert refused.value.hint == hint
