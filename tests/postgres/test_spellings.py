"""Texts of numbers, constants in other spellings and small functions, against PostgreSQL."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping

import psycopg
import pytest

from engine.errors import InvalidValue
from planner.adhoc.adhoc_query import adhoc_query
from planner.errors import PlannerError
from planner.parsing.parse import parse_query
from service.reading.duck import Duck
from tests.dialects.bar_file import Bar, Entry, Source
from tests.dialects.bar_run import verdicts
from tests.postgres.server import Server
from tests.seeds import each_seed, half

NUMBERS = (
    *(
        "0",
        "1",
        "-1",
        "12",
        "-12",
        "485",
        "1234",
        "-98765",
        "11",
        "112",
        "23",
        "0.5",
        "-0.5",
        "0.05",
        "-0.004",
    ),
    *("12.345", "-12.355", "99.995", "1234.5678", "0.1", "9.5", "-9.99", "NULL"),
)
EXPRESSIONS = (
    *("'inf'::float8", "'January 8, 1999'::date", "'8 January 1999'::date", "'19990108'::date"),
    *("'Jan-08-1999'::date", "'08-Jan-1999 04:05:06'::timestamp", "'1/18/1999'::date", "'12:05 AM'::time"),
    *(
        "'040506'::time",
        "'0405'::time",
        "'04:05:06.5 pm'::time",
        "extract(month FROM 'P1Y2M3DT4H'::interval)::int",
    ),
    *(
        f"extract(epoch FROM {written})::float8"
        for written in (
            "'0044-03-15 BC'::date",
            "TIMESTAMP '0044-03-15 12:00:00 BC'",
            "'2024-01-31 12:00 AD'::timestamp",
            "TIMESTAMP '2024-01-31 04:05 PM'",
            "'2024-01-31 12:05:07.5 am'::timestamp",
            "'January 8, 1999 04:05 PM'::timestamptz",
            "TIMESTAMP '2024-01-31 04:05 Europe/Paris'",
            "TIMESTAMP '2024-01-31 23:59:59.9999996'",
            "'2024-01-31 04:05:06.7890125'::timestamp",
            "TIMESTAMPTZ '2024-01-31 04:05:06.7890126+02'",
            "'2024-01-31 04:05 +02BC'::date",
            "'January 8, 1999 12:05 AM bc'::timestamp",
            "'0044-03-15BC 04:05 PM'::timestamptz",
            "'0044-03-15 04:05:06.9999999BC'::timestamp",
            "'2024-01-31 04:05:06.5 PM -02:30 AD'::timestamptz",
            "'19990108 040506'::timestamp",
            "'2024-01-31 4:5 pm'::timestamp",
            "'2024-01-31 4:5:6. PM'::timestamptz",
            "'2024-07-31 04:05 PST'::timestamptz",
            "'2024-07-31 04:05bst'::timestamptz",
            "'2024-07-31 04:05 UTC+3'::timestamptz",
            "'2024-07-31 04:05 PM Europe/Paris'::timestamptz",
            "'2024-07-31 04:05:06 + 2'::timestamptz",
            "'2024-07-31 04:05'::timestamp AT TIME ZONE 'CET'",
            "'2024-07-31 04:05'::timestamp AT TIME ZONE 'EDT'",
            "'2024-07-31 04:05'::timestamp AT TIME ZONE 'GMT-3'",
        )
    ),
    *(
        "acosd(-0.3)",
        "asind(-0.9)",
        "sind(-150)",
        "cosd(240)",
        "tand(-135)",
        "cotd(45)",
        "tand(180)",
        "sind(400.5)",
    ),
    *("atand(1)", "atan2d(-1, 0)", "sind(NULL)"),
    *(f"extract({part} FROM justify_days(INTERVAL '1 mon -35 days'))::int" for part in ("month", "day")),
    *(f"extract({part} FROM justify_hours(INTERVAL '-27 hours 1 s'))::int" for part in ("day", "second")),
    *(f"extract({part} FROM justify_interval(INTERVAL '-400 days 30 h'))::int" for part in ("month", "hour")),
    *(
        "quote_ident('select')",
        "quote_ident('a\"b')",
        "quote_ident('foo')",
        "quote_ident('name')",
        "quote_ident('')",
    ),
    *(r"unistr('d\u0061t\U00000061\\x')", "unistr(NULL)"),
    "width_bucket('2026-01-01'::timestamptz, ARRAY['2001-01-01', '9999-01-01']::timestamptz[])",
    "TIMESTAMPTZ '2001-02-16 20:38:40+00' AT TIME ZONE INTERVAL '+05:30'",
    "TIMESTAMPTZ '2001-02-16 20:38:40+00' AT TIME ZONE '-05:30'",
    r"""ARRAY['a','b c',NULL,'','null','x"y','a\b','it''s','a, b','[x]',' lead','{y}']::text""",
    "ARRAY[1.0::float8, 2.5, 1e20, NULL]::text",
    "ARRAY[[1,2],[3,4]]::text",
    "ARRAY[['it''s','a, b'],['[x]',NULL]]::text",
    "ARRAY[true, false, NULL]::text",
    "ARRAY['2020-01-01 00:00:00'::timestamp]::text",
    *("(ARRAY[]::int[])::text", "NULL::int[]::text"),
    "regexp_replace('foobarbaz', 'b(.)(.)', '<\\2\\1>', 1, 2)",
    "regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 9)",
    *("to_number('-12,454.8', '99G999D9')", "to_number('12454', '99G999')", "to_number(' 12', '999')"),
)
FAILING = (
    *(
        "'1e400'::float8",
        "'1e39'::real",
        "'99991301'::date",
        "CAST('4.5' AS integer)",
        "'2024-01-31 04:05 Nonsense'::date",
        "'2024-01-31 13:05 PM'::date",
        "'2024-01-31 04:05 amBC'::timestamp",
        "'2024-01-31 04:05 ESTBC'::timestamp",
        "'2024-01-31 04:05+16'::timestamptz",
        "'2024-01-31 24:00:01'::date",
        "'0000-01-31'::date",
        "unistr('d\\0061t\\+00061')",
    ),
    *("json_object('{a,b,c}')", "format('%I', NULL)", "to_number('', '999')"),
)


Answers = Mapping[str, str | None]
"""Texts by expression, without the expressions that fail."""


def _in_queries(expressions: Iterable[str]) -> Answers:
    duck, found = Duck(), dict[str, str | None]()
    for each in expressions:
        try:
            query = adhoc_query(parse_query(f"SELECT ({each})::text AS v", "postgres"), {})
            found[each] = duck.run(query, {}).table.column(0)[0].as_py()
        except (InvalidValue, PlannerError):
            continue
    duck.close()
    return found


def _in_views(expressions: Iterable[str]) -> Answers:
    asked = {f"({each})::text": each for each in expressions}
    entries = tuple(Entry(line, "", Source("", ""), sql, False) for line, sql in enumerate(asked, 1))
    given = verdicts(Bar("postgres", "", "", ("true", "false"), (), entries))
    return {
        asked[each.entry.sql]: each.given.rows[0][0]  # type: ignore[misc]
        for each in given
        if each.given.schema is not None
    }


def _told(server: Server, expressions: Iterable[str]) -> Answers:
    found = dict[str, str | None]()
    with server.connect() as connection:
        for each in expressions:
            try:
                ((found[each],),) = connection.execute(f"SELECT ({each})::text").fetchall()  # type: ignore[call-overload]
            except psycopg.Error:
                continue
    return found


@pytest.mark.parametrize("answers", [_in_views, _in_queries])
def test_values_are_postgresqls(postgres: Server, answers: Callable[[Iterable[str]], Answers]) -> None:
    asked = half(EXPRESSIONS)
    assert answers(asked) == _told(postgres, asked)


@pytest.mark.parametrize("answers", [_in_views, _in_queries])
def test_what_fails_there_fails_here(postgres: Server, answers: Callable[[Iterable[str]], Answers]) -> None:
    assert answers(FAILING) == _told(postgres, FAILING) == {}


def _format(chance: random.Random) -> str:
    """A format of numbers."""
    before = "".join(chance.choice("9999900,") for _ in range(chance.randint(1, 7))).strip(",") or "9"
    behind = chance.choice(["", "", ".9", ".990", ".0099", "D99", "V9"])
    lead = chance.choice(["", "", "", "", "S", "MI", "PL", "SG"])
    trail = "" if lead else chance.choice(["", "", "", "S", "MI", "PR", "PL", "SG"])
    around = (
        chance.choice(["", "", "$", '"Nr "']),
        chance.choice(["", "", "th", "TH"]),
        chance.choice(["", '"!"']),
    )
    return f"{chance.choice(['', '', 'FM'])}{around[0]}{lead}{before}{behind}{trail}{around[1]}{around[2]}"


@each_seed(1)
@pytest.mark.parametrize(("answers", "count"), [(_in_views, 16), (_in_queries, 40)])
def test_random_formats_write_numbers_as_postgresql(
    postgres: Server, answers: Callable[[Iterable[str]], Answers], count: int, seed: int
) -> None:
    chance = random.Random(seed)
    types = ("numeric", "float8", "real", "numeric(12,4)")
    asked = [
        f"to_char(({chance.choice(NUMBERS)})::{chance.choice(types)}, '{_format(chance)}')"
        for _ in range(count)
    ]
    told, found = _told(postgres, asked), answers(asked)
    assert found == {each: told[each] for each in found}
    assert len(found) > count // 2
