"""Times, intervals, bytes, UUIDs, JSON, enums and arrays in queries: the plan's answer is DuckDB's."""

from __future__ import annotations

import re

import pytest

from planner.statements.table_rules import Text
from tests.planner.samples import check

MOMENTS = [
    "SELECT id, ts, clock, span FROM things",
    "SELECT ts > TIMESTAMPTZ '2024-01-01 00:00:00+00', ts = '2024-03-31 00:30:00+00' FROM things",
    "SELECT clock < '12:00', clock = TIME '10:30' FROM things",
    "SELECT ts AT TIME ZONE 'Europe/Berlin', at AT TIME ZONE 'America/New_York' FROM things, days",
    "SELECT extract(hour FROM clock), extract(epoch FROM span), extract(day FROM ts) FROM things",
    "SELECT ts + INTERVAL '1 day', ts - span, clock + INTERVAL '30 minutes', day + clock FROM things, days",
    "SELECT ts - TIMESTAMPTZ '2024-01-01 00:00:00+00', at - day, at - at, age(at, day) FROM things, days",
    "SELECT span * 2, 2 * span, span / 4, -span, span + span, span - INTERVAL '1 hour' FROM things",
    "SELECT INTERVAL '1 day', INTERVAL '1 day 2 hours', INTERVAL '90' MINUTE, CAST('3 days' AS INTERVAL)",
    "SELECT id * INTERVAL '1 day', at + id * INTERVAL '1 hour' FROM days",
    "SELECT date_trunc('hour', ts), date_trunc('day', ts - INTERVAL '1 hour') FROM things",
    "SELECT ts::date, ts::timestamp, at::timestamptz, day::timestamptz, at::time FROM things, days",
    "SELECT ts::text, clock::text FROM things",
    "SELECT '2024-01-01 00:00:00+02'::timestamptz, '10:00'::time, TIME '10:11:12.5'",
    "SELECT note || ' 1 day', ('2020-01-0' || id || ' 00:00:00+01')::timestamptz FROM days",
    "SELECT span = INTERVAL '26 hours', span < '1 day', span IN ('26 hours', '0 days', '1 day') FROM things",
    "SELECT INTERVAL '1 month' = INTERVAL '30 days', INTERVAL '1 month' > INTERVAL '29 days 23 hours'",
    "SELECT greatest(ts, '2024-01-01 00:00:00+00'), least(ts, NULL), greatest(span, '1 hour') FROM things",
    "SELECT coalesce(span, '1 hour'), nullif(clock, '23:00') FROM things",
    "SELECT a.id, b.id FROM things a JOIN things b ON a.span < b.span",
    "SELECT a.id, b.id FROM things a JOIN things b ON a.ts = b.ts AND a.span <> b.span",
    "SELECT id FROM things WHERE span = ANY (SELECT span FROM things WHERE id = 1)",
    "SELECT min(ts), max(clock), min(span), max(span), count(DISTINCT ts) FROM things",
    "SELECT mood, min(ts), max(span) FROM things GROUP BY mood",
]

WIDE = [
    "SELECT data, tag, doc FROM things",
    "SELECT id FROM things WHERE tag = '00000000-0000-0000-0000-000000000007'",
    "SELECT tag < '80000000-0000-0000-0000-000000000000', tag::text, octet_length(data) FROM things",
    "SELECT min(tag), max(data), count(DISTINCT tag) FROM things",
    "SELECT tag, count(*) FROM things GROUP BY tag",
    "SELECT data || data, md5(data) FROM things",
    "SELECT ('00000000-0000-0000-0000-00000000000' || id)::uuid FROM things",
    "SELECT mood, mood = 'sad', mood > 'sad', mood::text || '!' FROM things",
    "SELECT id FROM things WHERE mood IN ('happy', 'sad') AND mood <> 'happy'",
    "SELECT mood, count(*) FROM things GROUP BY mood",
    "SELECT coalesce(mood, 'happy'), CASE WHEN id > 1 THEN mood END FROM things",
    "SELECT 'happy'::enum('happy', 'sad') < mood FROM things",
]

DOCUMENTS = [
    "SELECT doc -> 'a', doc -> 'a' -> 'b' -> 1, doc ->> 'n', doc -> 0, doc -> 1 -> 'a' FROM things",
    "SELECT (doc ->> 'n')::int + 1, (doc -> 'n')::int, doc -> 'a' ->> 'b' FROM things",
    "SELECT id FROM things WHERE doc ->> 'n' = '1'",
    "SELECT id FROM things WHERE doc -> 'n' = '1'",
    "SELECT doc -> words[1] FROM things",
    "SELECT json_extract_path_text(doc, 'a', 'b') FROM things",
    "SELECT to_json(xs), '[1]'::json, id::text::json FROM things",
    "SELECT doc::text, doc IS NULL FROM things",
]

ARRAYS = [
    "SELECT xs, words, xs[1], xs[2], xs[id], xs[id + 1], words[1] FROM things",
    "SELECT xs[1:2], xs[2:], xs[:1], xs[id:2] FROM things",
    "SELECT ARRAY[1, 2], ARRAY[id, 7], ARRAY[id::text, 'x', NULL], ARRAY[ARRAY[id], xs] FROM things",
    "SELECT '[1, 2]'::int[], ARRAY[]::text[] FROM things",
    "SELECT xs || ARRAY[5], xs || xs, array_append(xs, id), array_length(xs, 1) FROM things WHERE xs <> '[]'",
    "SELECT 1 = ANY(xs), id = ANY(xs), id = ANY(ARRAY[1, 2, NULL]) FROM things WHERE xs IS NOT NULL",
    "SELECT id FROM things WHERE 'x' = ANY(words)",
    "SELECT xs = ARRAY[3, 1], xs < ARRAY[2], xs IS NULL, xs <> '[1, 2]' FROM things",
    "SELECT array_to_string(words, ','), string_to_array('a,b', ','), array_position(xs, 3) FROM things",
    "SELECT xs::bigint[], xs::text[], words::text[] FROM things",
    "SELECT min(xs), max(xs), count(DISTINCT xs) FROM things",
    "SELECT xs @> ARRAY[1], xs && ARRAY[3, 4] FROM things",
    "SELECT a.id, b.id FROM things a JOIN things b ON a.xs > b.xs",
    "SELECT coalesce(xs, ARRAY[0]), CASE WHEN id = 1 THEN xs ELSE '[9]' END FROM things",
]


@pytest.mark.parametrize("sql", MOMENTS + WIDE + DOCUMENTS + ARRAYS)
def test_answers_as_the_referee(sql: str) -> None:
    check(sql)


NOT_NULL = "FROM (SELECT * FROM things WHERE xs IS NOT NULL)"
OTHERWISE = [
    (
        "SELECT 2 < ALL(xs), 2 > ANY(xs), 1 <> ALL(xs) FROM things",
        "SELECT 2 < ALL (SELECT unnest(xs)), 2 > ANY (SELECT unnest(xs)), 1 <> ALL (SELECT unnest(xs)) "
        f"{NOT_NULL} UNION ALL SELECT NULL, NULL, NULL",
    ),
    (
        "SELECT doc #> '[a,b,1]', doc #>> '[a,b,2]', doc #> ARRAY['a'], doc #> ARRAY[]::text[] FROM things",
        "SELECT doc -> 'a' -> 'b' -> 1, doc -> 'a' -> 'b' ->> 2, doc -> 'a', doc FROM things",
    ),
    (
        "SELECT json_array_length(doc -> 'a' -> 'b') FROM things",
        "SELECT json_array_length((doc -> 'a') -> 'b') FROM things",
    ),
    (
        """SELECT doc @> '{"n": 1.0}', doc @> '{"a": {"b": [2.5]}}', '{"a": ["y"]}' <@ doc FROM things""",
        "SELECT id = 1, id = 1, false FROM (SELECT * FROM things WHERE doc IS NOT NULL) "
        "UNION ALL SELECT NULL, NULL, NULL",
    ),
    (
        """SELECT doc @> '[1]', doc @> '1', doc @> '[{"a": null}]', doc @> '"s"', doc @> '{}' FROM things""",
        "SELECT id = 2, id = 2, id = 2, id = 4, id = 1 FROM (SELECT * FROM things WHERE doc IS NOT NULL) "
        "UNION ALL SELECT NULL, NULL, NULL, NULL, NULL",
    ),
    (
        "SELECT json_build_object('id', id, 'xs', xs), jsonb_array_length(doc -> 'a' -> 'b') FROM things",
        "SELECT json_object('id', id, 'xs', xs), json_array_length((doc -> 'a') -> 'b') FROM things",
    ),
    (
        "SELECT ts::time, clock - TIME '00:30' FROM things",
        "SELECT ts::timestamp::time, to_microseconds(epoch_us(clock) - 1800000000) FROM things",
    ),
    (
        "SELECT doc ? 'n', doc ? 's', doc ? words[1] FROM things WHERE id IN (1, 4)",
        "SELECT id = 1, id = 4, CASE id WHEN 1 THEN false END FROM things WHERE id IN (1, 4)",
    ),
    (
        "SELECT xs || id, id || xs, xs || '[9]', ARRAY[7] || 8 FROM things",
        "SELECT list_append(xs, id), list_prepend(id, xs), list_append(xs, 9), ARRAY[7, 8] FROM things",
    ),
    (
        "SELECT xs @> '[1]', '[1]' <@ xs FROM things",
        "SELECT list_contains(xs, 1), list_contains(xs, 1) FROM things",
    ),
]


@pytest.mark.parametrize(("sql", "reference"), OTHERWISE)
def test_what_duckdb_writes_otherwise(sql: str, reference: str) -> None:
    check(sql, reference)


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        (
            "SELECT list_transform(xs, lambda x: x + id), list_filter(xs, lambda x: x > 1) FROM things",
            "duckdb",
        ),
        ("SELECT xs[1], doc -> '$.a.b[0]', doc ->> '$.n' FROM things", "duckdb"),
        ("SELECT transform(xs, x -> x + id), size(xs), xs[0] FROM things", "hive"),
        ("SELECT xs[SAFE_OFFSET(0)], DATE_SUB(clock + day, INTERVAL xs[SAFE_OFFSET(1)] DAY) "
         "FROM things, days", "bigquery"),
        ("SELECT doc:a.b[1], DATEADD(day, id, ts) FROM things", "snowflake"),
        ("SELECT doc->'$.a.b', doc->>'$.n' FROM things", "mysql"),
    ],
)  # fmt: skip
def test_dialects(sql: str, dialect: str) -> None:
    check(sql, dialect=dialect)


def test_a_subscript_counts_as_its_dialect_does() -> None:
    check("SELECT xs[id] FROM things", "SELECT xs[id + 1] FROM things", "hive")
    check("SELECT xs[SAFE_ORDINAL(2)] FROM things", "SELECT xs[SAFE_OFFSET(1)] FROM things", "bigquery")


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_a_rule_that_is_written_again_has_its_subscripts(dialect: str) -> None:
    rule = Text("xs[2] + concat(xs, xs)[1]", dialect).renamed("xs", "ys")
    assert re.findall(r"\[\d+\]", rule.sql) == ["[2]", "[1]"]
