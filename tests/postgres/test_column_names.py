"""Names of columns without one: each expression has the name that a real PostgreSQL gives it."""

from __future__ import annotations

from itertools import product

import psycopg
from sqlglot import exp

from planner.parsing.parse import parse_query
from tests.postgres.server import Server

TABLE = """CREATE TEMPORARY TABLE x (
    a integer, b integer, t text, f double precision, d date, ts timestamp, tz timestamptz, v boolean,
    l integer[], j jsonb, "Big" integer)"""
VALUES = [
    *(
        "a",
        "x.a",
        '"Big"',
        'x."Big"',
        "(a)",
        "1",
        "1.5",
        "1e3",
        "'t'",
        "NULL",
        "true",
        "-1",
        "-a",
        "+a",
        "a + b",
    ),
    *(
        "a || t",
        "t || 'x'",
        "NOT v",
        "v AND v",
        "v OR v",
        "a = b",
        "a <> b",
        "a IS NULL",
        "a IS DISTINCT FROM b",
    ),
    *(
        "a BETWEEN 1 AND 2",
        "t LIKE 'x'",
        "t ILIKE 'x'",
        "t ~ 'x'",
        "a IN (1, 2)",
        "a IN (SELECT 1)",
        "a % b",
        "a ^ 2",
    ),
    *(
        "a = ANY (l)",
        "a = ALL (SELECT 1)",
        "a::text",
        "a::text::integer",
        "CAST(a AS text)",
        "1::int",
        "1::integer",
    ),
    *(
        "1::bigint",
        "1::smallint",
        "1::real",
        "1::double precision",
        "1::float",
        "1::numeric(5, 2)",
        "1::decimal",
    ),
    *(
        "'x'::text",
        "'x'::varchar(3)",
        "'x'::char(3)",
        "'x'::character varying",
        "NULL::boolean",
        "'1'::bytea",
    ),
    *(
        "DATE '2020-01-01'",
        "TIMESTAMP '2020-01-01'",
        "TIMESTAMPTZ '2020-01-01'",
        "TIME '10:00'",
        "INTERVAL '1 day'",
    ),
    *("'2020-01-01'::timestamp with time zone", "'{1}'::int[]", "'{a}'::text[]", "'1'::json", "'1'::jsonb"),
    *(
        "(a + 1)::int",
        "(a + 1)::text",
        "count(*)::int",
        "lower(t)::text",
        "ARRAY[1]::bigint[]",
        "(SELECT 1)::text",
    ),
    *(
        "CASE WHEN v THEN 1 END",
        "CASE WHEN v THEN a END",
        "CASE WHEN v THEN 1 ELSE a END",
        "CASE a WHEN 1 THEN 2 END",
    ),
    *(
        "CASE WHEN v THEN 1 ELSE 2 END",
        "CASE WHEN v THEN '1' ELSE lower(t) END",
        "CASE WHEN v THEN '1' ELSE t END",
    ),
    *(
        "CASE WHEN v THEN 1 ELSE 2::bigint END",
        "(CASE WHEN v THEN 1 END)::bigint",
        "CASE WHEN v THEN 1 ELSE (a) END",
    ),
    *(
        "coalesce(a, 1)",
        "nullif(a, 1)",
        "greatest(a, b)",
        "least(a, b)",
        "EXISTS (SELECT 1)",
        "NOT EXISTS (SELECT 1)",
    ),
    *(
        "ARRAY[1, 2]",
        "ARRAY(SELECT 1)",
        "ROW(1, 2)",
        "(1, 2)",
        "(SELECT 1)",
        "(SELECT a)",
        "(SELECT max(a) FROM x)",
    ),
    *(
        "(SELECT a AS z FROM x LIMIT 1)",
        "(SELECT 1::int)",
        "(VALUES (1))",
        "(SELECT 1 UNION SELECT 2 LIMIT 1)",
    ),
    *("(SELECT lower(t) FROM x LIMIT 1)", "((SELECT count(*) FROM x))", "(SELECT (SELECT min(a) FROM x))"),
    *(
        "l[1]",
        "l[1:2]",
        "(l)[1]",
        "(ARRAY[1, 2])[1]",
        't COLLATE "C"',
        "ts AT TIME ZONE 'UTC'",
        "j -> 'a'",
        "j ->> 'a'",
    ),
    *(
        "j #> '{a}'",
        "j #>> '{a}'",
        "j @> '{}'",
        "j ? 'a'",
        "lower(t)",
        "UPPER(t)",
        "Length(t)",
        "char_length(t)",
    ),
    *(
        "character_length(t)",
        "octet_length(t)",
        "substr(t, 1)",
        "substring(t, 1)",
        "substring(t from 1 for 2)",
        "left(t, 1)",
    ),
    *(
        "right(t, 1)",
        "trim(t)",
        "trim(both 'x' from t)",
        "trim(leading 'x' from t)",
        "trim(trailing from t)",
        "btrim(t)",
    ),
    *(
        "ltrim(t)",
        "rtrim(t)",
        "lpad(t, 3)",
        "rpad(t, 3)",
        "replace(t, 'a', 'b')",
        "split_part(t, 'a', 1)",
        "strpos(t, 'a')",
    ),
    *(
        "position('a' in t)",
        "overlay(t placing 'b' from 1)",
        "initcap(t)",
        "reverse(t)",
        "repeat(t, 2)",
        "md5(t)",
    ),
    *(
        "ascii(t)",
        "chr(65)",
        "concat(t, 'a')",
        "concat_ws(',', t)",
        "translate(t, 'a', 'b')",
        "to_hex(1)",
        "starts_with(t, 'a')",
    ),
    *(
        "regexp_replace(t, 'a', 'b')",
        "regexp_match(t, 'a')",
        "encode('a', 'hex')",
        "decode('61', 'hex')",
        "quote_literal(t)",
    ),
    *(
        "format('%s', t)",
        "string_to_array(t, ',')",
        "array_to_string(l, ',')",
        "array_length(l, 1)",
        "cardinality(l)",
    ),
    *(
        "array_append(l, 1)",
        "array_prepend(1, l)",
        "array_cat(l, l)",
        "array_position(l, 1)",
        "array_remove(l, 1)",
    ),
    *(
        "abs(a)",
        "ceil(f)",
        "ceiling(f)",
        "floor(f)",
        "round(f)",
        "round(1.5, 1)",
        "trunc(f)",
        "sign(f)",
        "sqrt(f)",
    ),
    *(
        "power(f, 2)",
        "pow(f, 2)",
        "exp(f)",
        "ln(f)",
        "log(f)",
        "log(2, 4)",
        "log10(f)",
        "mod(a, 2)",
        "div(a, 2)",
        "pi()",
    ),
    *(
        "sin(f)",
        "cos(f)",
        "atan2(f, f)",
        "degrees(f)",
        "radians(f)",
        "cbrt(f)",
        "gcd(a, b)",
        "lcm(a, b)",
        "factorial(3)",
    ),
    *(
        "random()",
        "width_bucket(f, 0, 1, 2)",
        "now()",
        "current_date",
        "current_timestamp",
        "current_time",
        "localtime",
    ),
    *(
        "localtimestamp",
        "current_timestamp(0)",
        "localtimestamp(0)",
        "clock_timestamp()",
        "statement_timestamp()",
    ),
    *(
        "date_part('year', ts)",
        "extract(year from ts)",
        "EXTRACT(epoch FROM ts)",
        "date_trunc('day', ts)",
        "age(ts)",
    ),
    *(
        "age(ts, ts)",
        "make_date(2020, 1, 1)",
        "make_timestamp(2020, 1, 1, 1, 1, 1)",
        "to_char(ts, 'YYYY')",
        "to_date(t, 'YYYY')",
    ),
    *(
        "to_timestamp(0)",
        "to_timestamp(t, 'YYYY')",
        "to_number(t, '9')",
        "justify_days(ts - ts)",
        "isfinite(ts)",
    ),
    *(
        "ts + INTERVAL '1 day'",
        "d - 1",
        "current_user",
        "session_user",
        "current_schema",
        "current_catalog",
        "version()",
    ),
    *(
        "gen_random_uuid()",
        "json_build_object('a', 1)",
        "jsonb_build_array(1)",
        "to_json(a)",
        "to_jsonb(a)",
        "jsonb_typeof(j)",
    ),
    *(
        "jsonb_array_length(j)",
        "jsonb_extract_path(j, 'a')",
        "jsonb_extract_path_text(j, 'a')",
        "row_to_json(x)",
        "bit_length(t)",
    ),
    *(
        "num_nulls(a, b)",
        "num_nonnulls(a, b)",
        "pg_typeof(a)",
        "generate_series(1, 2)",
        "unnest(l)",
        "jsonb_array_elements(j)",
    ),
    *(
        "count(*)",
        "COUNT(*)",
        "count(a)",
        "count(DISTINCT a)",
        "sum(a)",
        "avg(a)",
        "min(a)",
        "max(a)",
        "bool_and(v)",
    ),
    *(
        "bool_or(v)",
        "every(v)",
        "bit_and(a)",
        "bit_or(a)",
        "string_agg(t, ',')",
        "array_agg(a)",
        "json_agg(a)",
        "jsonb_agg(a)",
    ),
    *(
        "json_object_agg(t, a)",
        "jsonb_object_agg(t, a)",
        "stddev(a)",
        "stddev_pop(a)",
        "stddev_samp(a)",
        "variance(a)",
    ),
    *(
        "var_pop(a)",
        "var_samp(a)",
        "corr(f, f)",
        "covar_pop(f, f)",
        "regr_slope(f, f)",
        "count(*) FILTER (WHERE v)",
    ),
    *(
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY f)",
        "mode() WITHIN GROUP (ORDER BY a)",
        "array_agg(a ORDER BY b)",
    ),
    *(
        "count(*) + 1",
        "sum(a) / count(*)",
        "row_number() OVER ()",
        "rank() OVER (ORDER BY a)",
        "lag(a) OVER (ORDER BY a)",
    ),
    *(
        "dense_rank() OVER (ORDER BY a)",
        "ntile(2) OVER (ORDER BY a)",
        "first_value(a) OVER ()",
        "last_value(a) OVER ()",
    ),
    *(
        "nth_value(a, 1) OVER ()",
        "percent_rank() OVER (ORDER BY a)",
        "cume_dist() OVER (ORDER BY a)",
        "sum(a) OVER ()",
    ),
    *(
        "count(*) OVER (PARTITION BY a)",
        "sum(a) OVER () + 1",
        "lead(a, 1) OVER (ORDER BY a)",
        "pg_catalog.lower(t)",
    ),
]
AROUND = ["({})", "({})::text", "coalesce({}, NULL)", "CASE WHEN v THEN NULL ELSE {} END", "(SELECT {})"]
"""How every fifth expression stands inside of another."""
SAMPLES = [*VALUES, *(form.format(value) for value, form in product(VALUES[::5], AROUND))]


def ours(query: str) -> list[str]:
    return [
        column.alias
        if isinstance(column, exp.Alias)
        else column.name
        if isinstance(column, exp.Column)
        else "*"
        for column in parse_query(query, "postgres", named=True).expressions
    ]


def test_each_expression_is_called_as_postgresql_calls_it(postgres: Server) -> None:
    wrong, asked = {}, 0
    with postgres.connect() as connection:
        connection.autocommit = True
        connection.execute(TABLE)
        for value in SAMPLES:
            query = f"SELECT {value} FROM x"
            try:
                cursor = connection.execute(f"{query} LIMIT 0")
            except psycopg.Error:
                continue  # an aggregate inside of WHERE, a type that does not fit: nothing to compare
            asked += 1
            assert cursor.description is not None
            found = ours(query)
            if found != [cursor.description[0].name]:
                wrong[value] = (found, cursor.description[0].name)
    assert not wrong
    assert asked > 300
