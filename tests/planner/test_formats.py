"""Formats of dates and times: every token of the manuals, as the systems write it.

`formats.txt` has what systems wrote that were asked; `format_manuals` says it of those that cannot be.
FRESHET_CASES is the number of random formats for each manual.
"""

from __future__ import annotations

import os
import random
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from planner.dialects import translated
from planner.errors import TypeMismatch, Unsupported
from planner.parsing.parse import parse_query
from planner.planning import plan_query
from tests.planner.format_manuals import MANUALS, Manual
from tests.planner.test_functions import answers
from tests.seeds import SEED

TABLE = Path(__file__).with_name("formats.txt")
CASES = int(os.environ.get("FRESHET_CASES", "25"))
SAMPLES = (
    datetime(2026, 1, 1, 3, 4, 5, 678901),
    datetime(2024, 12, 30, 23, 59, 59, 5),
    datetime(2021, 7, 11, 12, 0, 9, 500000),
)


def meant(dialect: str, sql: str) -> exp.Expression:
    """What an expression over the moment `t` means, as DuckDB's."""
    item = parse_query(f"SELECT {sql} AS v FROM x", dialect).selects[0].this
    node = translated(item, dialect)
    assert node is not item
    return node


def written(nodes: list[exp.Expression], moments: list[datetime]) -> list[list[str]]:
    """What the expressions are for each of the moments `t`, by DuckDB as ad-hoc queries ask it."""
    rows = ", ".join(f"(TIMESTAMP '{moment}')" for moment in moments)
    items = ", ".join(node.sql("duckdb") for node in nodes)
    found = duckdb.sql(f"SELECT {items} FROM (VALUES {rows}) AS x(t)").fetchall()
    return [list(texts) for texts in zip(*found, strict=True)]


def quoted(form: str, dialect: str) -> str:
    """The format as the dialect writes a text."""
    return "'" + form.replace("'", "\\'" if dialect in ("spark", "hive") else "''") + "'"


def refused(dialect: str, sql: str) -> bool:
    try:
        meant(dialect, sql)
    except Unsupported as error:
        assert error.hint and error.line == 1 and error.column
        return True
    return False


def table() -> dict[tuple[str, str], list[tuple[str, list[str]]]]:
    """Formats and the texts of the samples, by dialect and call."""
    found: dict[tuple[str, str], list[tuple[str, list[str]]]] = {}
    for line in TABLE.read_text().splitlines():
        if line.startswith("[") and " => " not in line:
            dialect, call = line.removeprefix("[").split("] ")
            lines = found.setdefault((dialect, call), [])
        elif line and not line.startswith("#"):
            form, texts = line.split(" => ")
            lines.append((form, [text[1:-1] for text in texts.split(" ~ ")]))
    return found


ASKED = table()


@pytest.mark.parametrize(("dialect", "call"), ASKED)
def test_tokens_write_what_the_system_wrote(dialect: str, call: str) -> None:
    lines = [(call.format(t="t", f=quoted(form, dialect)), texts) for form, texts in ASKED[dialect, call]]
    assert not [sql for sql, texts in lines if (texts == ["refused"]) != refused(dialect, sql)]
    known = [(sql, texts) for sql, texts in lines if texts != ["refused"]]
    got = written([meant(dialect, sql) for sql, _ in known], list(SAMPLES))
    wrong = [(sql, want, mine) for (sql, want), mine in zip(known, got, strict=True) if want != mine]
    assert not wrong


@pytest.mark.parametrize("manual", MANUALS, ids=lambda manual: f"{manual.dialect} {manual.call}")
def test_tokens_write_what_the_manual_says(manual: Manual) -> None:
    def call(token: str) -> str:
        return manual.call.format(t="t", f=quoted(f"{token} ", manual.dialect))

    known = {token: write for token, write in manual.tokens.items() if write is not None}
    assert not [t for t in manual.tokens if (t not in known) != refused(manual.dialect, call(t))]
    got = written([meant(manual.dialect, call(token)) for token in known], list(SAMPLES))
    want = [[f"{write(moment)} " for moment in SAMPLES] for write in known.values()]
    assert dict(zip(known, got, strict=True)) == dict(zip(known, want, strict=True))


@pytest.mark.parametrize("manual", MANUALS, ids=lambda manual: f"{manual.dialect} {manual.call}")
def test_random_formats_write_what_the_manual_says(manual: Manual) -> None:
    chance = random.Random(SEED)
    known = [(token, write) for token, write in manual.tokens.items() if write is not None]
    known = [(token, write) for token, write in known if not token.startswith(("fm", "FM"))]
    texts = [("-", "-"), (" ", " "), ("/", "/"), (", ", ", "), (": ", ": ")]
    texts += [(f"{manual.quote}the T{manual.quote}", "the T")] if manual.quote else []
    forms, wants = [], []
    start = datetime(1970, 1, 1)
    moments = [start + timedelta(microseconds=chance.randrange(4 * 10**15)) for _ in range(8)]
    for _ in range(CASES):
        pieces = [(chance.choice(known), chance.choice(texts)) for _ in range(chance.randint(2, 4))]
        forms.append("".join(token + text for (token, _), (text, _) in pieces))
        wants.append(["".join(write(m) + shown for (_, write), (_, shown) in pieces) for m in moments])
    calls = [manual.call.format(t="t", f=quoted(form, manual.dialect)) for form in forms]
    got = written([meant(manual.dialect, call) for call in calls], moments)
    assert dict(zip(forms, got, strict=True)) == dict(zip(forms, wants, strict=True))


IN_VIEWS = {
    "postgres": {
        f"to_char(TIMESTAMP '{SAMPLES[0]}', 'DD-MON-YYYY')": "01-JAN-2026",
        f"to_char(TIMESTAMP '{SAMPLES[0]}', 'FMDay {{0}} Q')": "Thursday {0} 1",
        f"to_char(TIMESTAMP '{SAMPLES[0]}', 'HH24 TZ')": "03 ",
        "to_char(TIMESTAMPTZ '2026-01-01 03:00:00+02', 'HH24 TZ')": "01 UTC",
        "to_char(DATE '2026-01-01', 'Day')": "Thursday ",
        "to_char(NULL::date, 'Day')": "NULL",
        "to_char(to_date('5 1 2026', 'DD MM YYYY'), 'Dy')": "Mon",
    },
    "bigquery": {
        "FORMAT_TIME('%R', TIME '10:11:12')": "10:11",
        "FORMAT_DATE('%b', DATE '2026-01-01')": "Jan",
    },
    "spark": {"from_unixtime(60, 'mm:ss')": "01:00", "date_format('2026-01-01', 'yyyy')": "2026"},
    "tsql": {
        "CONVERT(VARCHAR(10), CAST('2026-01-02 03:04:05' AS DATETIME2), 120)": "2026-01-02",
        "CONVERT(VARCHAR, CAST('2026-01-02 03:04:05' AS DATETIME2), 120)": "2026-01-02 03:04:05",
        "CONVERT(VARCHAR, CAST('2026-01-02' AS DATE), 120)": "2026-01-02",
        "CONVERT(VARCHAR, CAST('2026-01-02 03:04:05' AS DATETIME2), 100)": "Jan  2 2026  3:04AM",
        "CONVERT(CHAR(12), CAST('2026-01-02 03:04:05' AS DATETIME2), 101)": "01/02/2026  ",
        "CONVERT(VARCHAR, CAST('2026-01-02 03:04:05' AS DATETIME2), 7)": "Jan 02, 26",
        "CONVERT(VARCHAR, CAST('2026-01-02 13:04:05' AS DATETIME2), 108)": "13:04:05",
        "CONVERT(DATE, '01/02/2026', 101)": "2026-01-02",
        "CONVERT(DATE, '01/02/2026', 103)": "2026-02-01",
        "CONVERT(DATE, '49.02.01', 2)": "2049-02-01",
        "CONVERT(DATE, '50.02.01', 2)": "1950-02-01",
        "TRY_CONVERT(DATE, 'x', 101)": "NULL",
        "CONVERT(INT, '5')": "5",
    },
    "mysql": {
        "FORMAT(12332.123456, 4)": "12,332.1235",
        "FORMAT(-1234567.005, 2)": "-1,234,567.01",
        "FORMAT(12332.2, 0)": "12,332",
        "FORMAT(NULL, 2)": "NULL",
    },
    "duckdb": {"strftime(DATE '2026-01-01', '%-d %A')": "1 Thursday"},
}


@pytest.mark.parametrize("dialect", IN_VIEWS)
def test_views_write_as_adhoc_queries_do(dialect: str) -> None:
    assert answers(dialect, list(IN_VIEWS[dialect])) == list(IN_VIEWS[dialect].values())


@pytest.mark.parametrize(
    ("dialect", "sql", "token", "column"),
    [
        ("snowflake", "TO_CHAR(t, 'YYYY Q')", "'Q'", 25),
        ("trino", "date_format(t, '%Y-%D')", "'%D'", 27),
        ("spark", "date_format(t, 'yyyy-MM YYYY')", "'YYYY'", 32),
        ("oracle", "TO_CHAR(t, 'YEAR')", "'YEAR'", 20),
        ("mysql", "STR_TO_DATE(t, '%Y-%m-%d %j')", "'%j'", 33),
        ("exasol", "TO_CHAR(t, 'YYYY')", "exasol", 8),
        ("postgres", "to_char(t, t::text)", "not a constant", 19),
    ],
)
def test_unknown_tokens_are_refused_by_name_and_place(
    dialect: str, sql: str, token: str, column: int
) -> None:
    with pytest.raises(Unsupported, match=token) as refusal:
        plan_query(f"SELECT {sql} AS v FROM (SELECT CAST('2026-01-01' AS TIMESTAMP) AS t) AS x", {}, dialect)
    assert refusal.value.hint
    assert (refusal.value.line, refusal.value.column) == (1, column)


@pytest.mark.parametrize("sql", ["to_char(5, 'YYYY')", "to_char(TIME '10:00', 'HH24')", "to_date(5, 'YYYY')"])
def test_values_of_other_types_are_refused(sql: str) -> None:
    with pytest.raises(TypeMismatch):
        plan_query(f"SELECT {sql} AS v", {}, "postgres")


def test_moments_that_a_language_has_no_text_for_are_errors_of_their_rows() -> None:
    early = meant("mysql", "DATE_FORMAT(t, '%Y')").sql("duckdb")
    with pytest.raises(duckdb.Error, match="only years 1 to 9999"):
        duckdb.sql(f"SELECT {early} FROM (SELECT TIMESTAMP '0044-03-15 (BC) 00:00:00' AS t)").fetchall()
    assert duckdb.sql(f"SELECT {early} FROM (SELECT NULL::TIMESTAMP AS t)").fetchall() == [(None,)]
    roman = meant("postgres", "to_char(t, 'YYYY BC')").sql("duckdb")
    rows = "(VALUES (TIMESTAMP '0044-03-15 (BC) 00:00:00'), ('12026-01-01'), ('infinity')) AS x(t)"
    assert duckdb.sql(f"SELECT {roman} FROM {rows}").fetchall() == [("0044 BC",), ("12026 AD",), (None,)]


READ = [
    ("postgres", "to_date('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05"),
    ("postgres", "to_timestamp('2020-1-5 10:11', 'YYYY-MM-DD HH24:MI')", "2020-01-05T10:11:00Z"),
    ("postgres", "to_date('68/01', 'YY/MM')", "2068-01-01"),
    ("postgres", "to_date('70/01', 'YY/MM')", "1970-01-01"),
    ("postgres", "to_date(NULL, 'YYYY')", "NULL"),
    ("oracle", "to_date('2020-01-05 10:11:12', 'YYYY-MM-DD HH24:MI:SS')", "2020-01-05T10:11:12"),
    ("oracle", "to_date('2020-01-05', 'YYYY-MM-DD')", "2020-01-05"),
    ("snowflake", "TO_DATE('3/4/2013', 'dd/mm/yyyy')", "2013-04-03"),
    ("snowflake", "TRY_TO_DATE('x', 'dd/mm/yyyy')", "NULL"),
    ("snowflake", "TO_TIMESTAMP(1600000000, 0)", "2020-09-13T12:26:40"),
    ("bigquery", "PARSE_DATE('%F', '2020-01-05')", "2020-01-05"),
    ("bigquery", "PARSE_TIMESTAMP('%F %T', '2020-01-05 1:2:3')", "2020-01-05T01:02:03Z"),
    ("mysql", "STR_TO_DATE('May 1, 2013', '%M %d,%Y')", "2013-05-01"),
    ("mysql", "STR_TO_DATE('2013-02-30', '%Y-%m-%d')", "NULL"),
    ("mysql", "STR_TO_DATE('abc', '%Y-%m-%d')", "NULL"),
    ("mysql", "STR_TO_DATE('2013-02-03 24:00', '%Y-%m-%d %H:%i')", "NULL"),
    ("trino", "date_parse('2020-01-05 10', '%Y-%m-%d %H')", "2020-01-05T10:00:00"),
    ("clickhouse", "parseDateTime('2020-01-05', '%F')", "2020-01-05T00:00:00"),
    ("spark", "to_date('2020/01/05', 'yyyy/MM/dd')", "2020-01-05"),
    ("spark", "to_timestamp('05 Jan 20 12:30 AM', 'dd MMM yy hh:mm a')", "2020-01-05T00:30:00"),
    ("spark", "try_to_timestamp('2020-1-5', 'yyyy-MM-dd')", "NULL"),
    ("spark", "unix_timestamp('2020-01-05', 'yyyy-MM-dd')", "1578182400"),
]


@pytest.mark.parametrize("dialect", dict.fromkeys(dialect for dialect, _, _ in READ))
def test_texts_are_read_as_the_system_reads_them(dialect: str) -> None:
    mine = [(sql, value) for name, sql, value in READ if name == dialect]
    assert answers(dialect, [sql for sql, _ in mine]) == [value for _, value in mine]


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "to_date('2020-02-30', 'YYYY-MM-DD')"),
        ("postgres", "to_date('2020-02', 'YYYY-MM-DD')"),
        ("postgres", "to_date('20200101', 'YYYY-MM-DD')"),
        ("postgres", "to_timestamp('2020-01-01 24:00', 'YYYY-MM-DD HH24:MI')"),
        ("spark", "to_date('2020-1-05', 'yyyy-MM-dd')"),
        ("mysql", "STR_TO_DATE('20 Ja 2020', '%d %b %Y')"),
    ],
)
def test_texts_beyond_the_format_are_errors_of_their_rows(dialect: str, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        duckdb.sql(f"SELECT {meant(dialect, sql).sql('duckdb')}").fetchall()


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("tsql", "CONVERT(VARCHAR, t, 9)"),
        ("tsql", "CONVERT(VARCHAR, t, 131)"),
        ("tsql", "CONVERT(DATETIME, t, 100)"),
        ("tsql", "FORMAT(t, 'd', 'de-DE')"),
        ("mysql", "FORMAT(t, 2, 'fr_FR')"),
        ("mysql", "FORMAT(t, t)"),
        ("mysql", "TIME_FORMAT(t, '%Y')"),
        ("bigquery", "CAST(t AS DATE FORMAT 'YYYY-MM-DD')"),
        ("bigquery", "FORMAT_TIMESTAMP('%F', t, 'Asia/Tokyo')"),
        ("sqlite", "strftime('%Y', t, '+1 day')"),
        ("duckdb", "strftime(t, '%Y%n')"),
        ("presto", "to_char(t, 'yyyy')"),
        ("dremio", "DATE_FORMAT(t, 'YYYY')"),
        ("teradata", "TO_CHAR(t, 'YYYY')"),
    ],
)
def test_what_has_no_translation_is_refused(dialect: str, sql: str) -> None:
    assert refused(dialect, sql)


@pytest.mark.parametrize("form", ["MM", "DD", "YYYY Q", "YYYY HH12", "YYYY HH24 AM", "YYYY YY", "DDD YYYY"])
def test_formats_that_do_not_say_a_date_are_refused(form: str) -> None:
    assert refused("postgres", f"to_date(t, '{form}')")
