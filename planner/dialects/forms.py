"""The forms of overloads: DuckDB's SQL by the type of the first argument, `{0}`."""

from __future__ import annotations

from collections.abc import Mapping

from planner.dialects.postgres_values import OF_BYTES, OF_INTERVAL, TEXT_IN_QUERY

Forms = Mapping[str, str]

_MOMENTS = {"TIMESTAMP": "{0}", "TIMESTAMPTZ": "{0}", "TEXT": "CAST({0} AS TIMESTAMP)"}
_FULL = "CAST({0} AS TIMESTAMP)"


def _of_moments(body: str) -> dict[str, str]:
    """A moment gives a moment."""
    return {type: body.replace("{0}", at) for type, at in _MOMENTS.items()}


def _kept(body: str) -> Forms:
    """A day gives a day, a moment a moment."""
    return {"DATE": f"CAST({body} AS DATE)", **_of_moments(body)}


def _moment(body: str) -> Forms:
    """Days and moments give a moment."""
    return {"DATE": body.replace("{0}", _FULL), **_of_moments(body)}


def _whole_of_whole(body: str) -> Forms:
    """A whole number gives one, without its fraction."""
    return {"WHOLE": f"CAST(trunc({body}) AS BIGINT)", "NUMBER": body}


def _written(moment: str) -> str:
    """A moment as MySQL writes it: with a fraction only if it has one."""
    return (
        f"CASE WHEN microsecond({moment}) % 1000000 = 0 THEN strftime({moment}, '%Y-%m-%d %H:%M:%S') "
        f"ELSE strftime({moment}, '%Y-%m-%d %H:%M:%S.%f') END"
    )


_ADD = "{0} + {1}"
_SUM = f"{_FULL} + {{1}}"
_SUM_OF_TEXT = (
    "CASE WHEN length({0}) <= 10 THEN strftime(CAST({0} AS DATE) + {1}, '%Y-%m-%d') "
    f"ELSE {_written(_SUM)} END"
)
_AT_MONTHS_END = (
    "CASE WHEN last_day({0}) = CAST({0} AS DATE) "
    "THEN last_day({0} + {1}) + ({0} - date_trunc('day', {0})) ELSE {0} + {1} END"
)
_WEEK_BEGUN = "date_trunc('week', {0} + to_days({1})) - to_days({1})"
_NEXT_DAY = "{0} + to_days(CAST(({1} - isodow({0}) + 6) % 7 + 1 AS INTEGER))"
_TRUTH = (
    "CASE WHEN lower({0}) IN ('true', 't', 'yes', 'y', 'on', '1') THEN true"
    " WHEN lower({0}) IN ('false', 'f', 'no', 'n', 'off', '0') THEN false"
    " WHEN {0} IS NOT NULL THEN CAST({0} || ' is no truth value' AS BOOLEAN) END"
)
_MOMENT_OF_SNOWFLAKE = (
    "CASE WHEN NOT regexp_full_match({0}, '-?[0-9]+') THEN CAST({0} AS TIMESTAMP)"
    " ELSE make_timestamp(CASE WHEN abs(CAST({0} AS BIGINT)) < 31536000000 THEN CAST({0} AS BIGINT) * 1000000"
    " WHEN abs(CAST({0} AS BIGINT)) < 31536000000000 THEN CAST({0} AS BIGINT) * 1000"
    " WHEN abs(CAST({0} AS BIGINT)) < 31536000000000000 THEN CAST({0} AS BIGINT)"
    " ELSE CAST({0} AS BIGINT) // 1000 END) END"
)
_CEILED = "CASE WHEN date_trunc({1}, {0}) = {0} THEN {0} ELSE date_trunc({1}, {0}) + {2} END"
_OF_CLOCK = "(DATE '1970-01-01' + {0})"
_DAY_OF_CLICKHOUSE = (
    "CASE WHEN {0} <= 65535 THEN DATE '1970-01-01' + CAST(trunc({0}) AS INTEGER)"
    " ELSE CAST(make_timestamp(CAST(trunc({0}) AS BIGINT) * 1000000) AS DATE) END"
)
_HEX_OF_CLICKHOUSE = "CASE WHEN length(hex({0})) % 2 = 1 THEN '0' || hex({0}) ELSE hex({0}) END"
_BIN_OF_CLICKHOUSE = "to_base({0}, 2, CAST((length(bin({0})) + 7) // 8 * 8 AS INTEGER))"
_NUMBER_OF_ORACLE = (
    r"regexp_replace(CASE WHEN regexp_full_match(CAST({0} AS VARCHAR), '[-0-9]+[.][0-9]+')"
    r" THEN rtrim(rtrim(CAST({0} AS VARCHAR), '0'), '.') ELSE CAST({0} AS VARCHAR) END, '^(-?)0[.]', '\1.')"
)
_STEPS = (
    "list_filter(list_transform(generate_series({0}, {1} + {2}, {2}), lambda each, place: EACH),"
    " lambda each: CASE WHEN {2} > INTERVAL 0 SECONDS THEN each <= {1} ELSE each >= {1} END)"
)
"""Each element is so many steps from the first, which steps of months one after the other are not."""
_STEP = "{0} + {2} * (place - 1)"
_CLOCK_OF_MYSQL = {
    "hour": "hour({0})",
    "minute": "minute({0})",
    "second": "second({0})",
    "microsecond": "microsecond({0}) % 1000000",
    "time": "CAST({0} AS TIME)",
}


_LONG_TIME = "regexp_full_match({0}, '[0-9]?[0-9][0-9]:[0-9][0-9](:[0-9][0-9]([.][0-9]+)?)?')"
_BITS = "CAST(regexp_replace(CAST({0} AS VARCHAR), '^$', 'no bits') AS BIT)"
_LAST_BITS = (
    "CAST(right(lpad(CAST(CAST(CAST({0} AS BIGINT) AS BIT) AS VARCHAR), greatest({1}, 64),"
    " CASE WHEN {0} < 0 THEN '1' ELSE '0' END), {1}) AS BIT)"
)
"""The last bits of a number, with its sign before the first of 64."""
_REST_OF_HOUR = "CAST(regexp_replace({0}, '^[0-9]+:', '00:') AS TIME)"
_HOURS_OF_TEXT = "to_hours(CAST(split_part({0}, ':', 1) AS INTEGER))"
_MICROSECONDS = f"epoch_us(DATE '1970-01-01' + {_REST_OF_HOUR} + {_HOURS_OF_TEXT} + {{1}})"
_TIME_SUM = (
    f"list_transform([{_MICROSECONDS}], lambda time: CASE WHEN time < 0 THEN '-' ELSE '' END"
    " || CASE WHEN abs(time) < 36000000000 THEN '0' ELSE '' END || CAST(abs(time) // 3600000000 AS VARCHAR)"
    " || CASE WHEN time % 1000000 = 0 THEN strftime(make_timestamp(abs(time) % 3600000000), ':%M:%S')"
    " ELSE strftime(make_timestamp(abs(time) % 3600000000), ':%M:%S.%f') END)[1]"
)


def _clock_of_mysql(body: str) -> Forms:
    """What MySQL takes from a moment or a time of day, either of which may be a text. A time may have more
    than 24 hours, up to 838."""
    of_moment = body.replace("{0}", _FULL)
    of_long = body.replace("{0}", _REST_OF_HOUR)
    of_long = "CAST(split_part({0}, ':', 1) AS BIGINT)" if body.startswith("hour") else of_long
    is_long = f"{_LONG_TIME} AND CAST(split_part({{0}}, ':', 1) AS BIGINT) <= 838"
    long = "" if body.startswith("CAST") else f"WHEN {is_long} THEN {of_long} "
    of_text = (
        f"CASE {long}WHEN regexp_matches({{0}}, '^[0-9]+:') THEN "
        f"{body.replace('{0}', 'CAST({0} AS TIME)')} ELSE {of_moment} END"
    )
    return {
        **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPTZ"), of_moment),
        "TEXT": of_text,
        "TIME": body,
    }


FORMS: Mapping[str, Forms] = {
    "shifted": {**_kept(_ADD), "INTERVAL": _ADD},
    "shifted_clock": {**_moment(_ADD), "TIME": _ADD, "INTERVAL": _ADD},
    "shifted_clock_kept": {**_kept(_ADD), "TIME": _ADD, "INTERVAL": _ADD},
    "shifted_strictly": {**_of_moments(_ADD), "TIME": _ADD, "INTERVAL": _ADD},
    "shifted_moment": {**_moment(_ADD), "INTERVAL": _ADD},
    "shifted_mysql": {**_kept(_ADD), "TEXT": _SUM_OF_TEXT},
    "shifted_clock_mysql": {
        **_moment(_ADD),
        "TEXT": f"CASE WHEN {_LONG_TIME} THEN {_TIME_SUM} ELSE {_written(_SUM)} END",
    },
    "last_day_of_mysql": {
        **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPTZ"), "last_day({0})"),
        "TEXT": (
            "CASE WHEN regexp_matches({0}, '-00?([^0-9]|$)') THEN last_day(CAST({0} AS TIMESTAMP))"
            " ELSE last_day(TRY_CAST({0} AS TIMESTAMP)) END"
        ),
    },
    "shifted_at_months_end": _kept(_AT_MONTHS_END),
    "shifted_moment_at_months_end": _moment(_AT_MONTHS_END),
    "truncated": _kept("date_trunc({1}, {0})"),
    "truncated_strictly": _of_moments("date_trunc({1}, {0})"),
    "length": {"TEXT": "length({0})", "BYTES": "octet_length({0})"},
    "length_of_sqlite": {
        "TEXT": "length({0})",
        "BYTES": "octet_length({0})",
        "WHOLE": "length(CAST({0} AS VARCHAR))",
        "NUMBER": "length(CAST(CAST({0} AS DOUBLE) AS VARCHAR))",
    },
    "text_of_sqlite": {
        "TEXT": "{0}",
        "WHOLE": "CAST({0} AS VARCHAR)",
        "NUMBER": "CAST(CAST({0} AS DOUBLE) AS VARCHAR)",
    },
    "bits_of_mysql": {
        "BYTES": "CAST(bit_count(CAST({0} AS BIT)) AS BIGINT)",
        "WHOLE": "CAST(bit_count({0}) AS BIGINT)",
    },
    "text_of_postgres": {"ANY": TEXT_IN_QUERY},
    "rounded": {"FLOAT": "round_even({0}, 0)", "NUMBER": "round({0})"},
    "document_of": {
        "DATE": "to_json({0})",
        "TIMESTAMP": "to_json(replace(CAST({0} AS VARCHAR), ' ', 'T'))",
        "TIMESTAMPTZ": "to_json(replace(CAST(timezone('UTC', {0}) AS VARCHAR), ' ', 'T') || '+00:00')",
        "BYTES": f"to_json({OF_BYTES})",
        "INTERVAL": f"to_json({OF_INTERVAL})",
        "ANY": "to_json({0})",
    },
    # the seconds of PostgreSQL's time with a zone are those since midnight in UTC; DuckDB's of a moment with
    # a zone are off by the last bit
    "seconds_since": {
        "TIMESTAMPTZ": "date_part('epoch', timezone('UTC', {0}))",
        "TIMETZ": "date_part('epoch', {0}) - date_part('timezone', {0})",
        "ANY": "date_part('epoch', {0})",
    },
    "bits": dict.fromkeys(("TEXT", "BITS"), _BITS),
    "bits_up_to": dict.fromkeys(("TEXT", "BITS"), f"CAST(left(CAST({_BITS} AS VARCHAR), {{1}}) AS BIT)"),
    "bits_of_length": {
        **dict.fromkeys(
            ("TEXT", "BITS"), f"CAST(left(rpad(CAST({_BITS} AS VARCHAR), {{1}}, '0'), {{1}}) AS BIT)"
        ),
        "WHOLE": _LAST_BITS,
    },
    "written": {
        "TEXT": "{0}",
        "TRUTH": "CASE WHEN {0} THEN 't' WHEN NOT {0} THEN 'f' END",
        "ANY": TEXT_IN_QUERY,
    },
    "reversed_of_any": {"TEXT": "reverse({0})", "ARRAY": "list_reverse({0})"},
    "zoned_moment": {
        **dict.fromkeys(("DATE", "TEXT"), "CAST({0} AS TIMESTAMPTZ)"),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ"), "{0}"),
    },
    "moment": {"DATE": _FULL, **_of_moments("{0}"), "TIME": "{0}", "INTERVAL": "{0}"},
    "sliced": _kept("time_bucket({1}, {0}, TIMESTAMP '1970-01-01')"),
    "sliced_from": _kept("time_bucket({1}, {0}, {2})"),
    "degrees_of_tsql": _whole_of_whole("degrees({0})"),
    "power_of_tsql": _whole_of_whole("pow({0}, {1})"),
    "radians_of_tsql": _whole_of_whole("radians({0})"),
    "moment_of_tsql": {"DATE": _FULL, **_of_moments("{0}"), "TIME": "DATE '1900-01-01' + {0}"},
    "rounded_or_number": {
        **dict.fromkeys(
            ("DATE", "TIMESTAMP", "TIMESTAMPTZ"),
            f"CAST(date_trunc('day', {_FULL} + INTERVAL 12 HOUR) AS DATE)",
        ),
        "WHOLE": "{0}",
        "NUMBER": "round({0})",
    },
    "text_of_oracle": {
        "TEXT": "{0}",
        "WHOLE": "CAST({0} AS VARCHAR)",
        "NUMBER": _NUMBER_OF_ORACLE,
        "DATE": "upper(strftime({0}, '%d-%b-%y'))",
    },
    "week_begun": _kept(_WEEK_BEGUN),
    "week_ceiled": _kept(
        f"CASE WHEN {_WEEK_BEGUN} = {{0}} THEN {{0}} ELSE {_WEEK_BEGUN} + INTERVAL '7' DAY END"
    ),
    "next_day_kept": _kept(_NEXT_DAY),
    "last_day_kept": {
        "DATE": "last_day({0})",
        **_of_moments("last_day({0}) + ({0} - date_trunc('day', {0}))"),
    },
    "day_of_oracle": {"DATE": "{0}", "TEXT": "CAST({0} AS DATE)"},
    "truncated_or_number": {
        **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPTZ"), "CAST({0} AS DATE)"),
        "NUMBER": "trunc({0})",
    },
    "stepped": {
        "DATE": _STEPS.replace("EACH", f"CAST({_STEP} AS DATE)"),
        **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ"), _STEPS.replace("EACH", _STEP)),
    },
    "flat_values": {
        "JSON": "CASE json_type({0}) WHEN 'ARRAY' THEN json_extract({0}, '$[*]') "
        "WHEN 'OBJECT' THEN json_extract({0}, '$.' || '*') END",
        "ARRAY": "{0}",
    },
    "flat_keys": {
        "JSON": "CASE json_type({0}) WHEN 'OBJECT' THEN json_keys({0}) END",
        "ARRAY": "CAST([] AS VARCHAR[])",
    },
    "flat_places": {
        "JSON": "CASE json_type({0}) WHEN 'ARRAY' THEN range(CAST(json_array_length({0}) AS BIGINT)) END",
        "ARRAY": "range(CAST(len({0}) AS BIGINT))",
    },
    "cardinality_of_flink": {"ARRAY": "len({0})", "MAP": "CAST(cardinality({0}) AS BIGINT)"},
    "floor_to_unit": {
        **_kept("date_trunc({1}, {0})"),
        "TIME": f"CAST(date_trunc({{1}}, {_OF_CLOCK}) AS TIME)",
    },
    "ceil_to_unit": {
        **_kept(_CEILED),
        "TIME": f"CAST({_CEILED.replace('{0}', _OF_CLOCK)} AS TIME)",
    },
    "iso_day": {"DATE": "CAST({0} AS VARCHAR)"},
    "truth_of_clickhouse": {"TRUTH": "{0}", "NUMBER": "{0} <> 0", "TEXT": _TRUTH},
    "day_of_clickhouse": {"DATE": "{0}", **_of_moments("CAST({0} AS DATE)"), "NUMBER": _DAY_OF_CLICKHOUSE},
    "moment_of_clickhouse": {
        "DATE": _FULL,
        **_of_moments("date_trunc('second', {0})"),
        "NUMBER": "make_timestamp(CAST(trunc({0}) AS BIGINT) * 1000000)",
    },
    "precise_moment_of_clickhouse": {
        "DATE": _FULL,
        **_of_moments(_FULL),
        "NUMBER": "make_timestamp(CAST(trunc({0} * 1000000) AS BIGINT))",
    },
    "length_of_clickhouse": {
        "TEXT": "octet_length(encode({0}))",
        "BYTES": "octet_length({0})",
        "ARRAY": "len({0})",
        "MAP": "CAST(cardinality({0}) AS BIGINT)",
    },
    "rounded_of_clickhouse": {"FLOAT": "round_even({0}, {1})", "NUMBER": "round({0}, {1})"},
    "member_of_clickhouse": {
        "ARRAY": "CASE WHEN abs({1}) NOT BETWEEN 1 AND len({0}) THEN {DEFAULT} ELSE {0}[{1}] END",
        "ANY": (
            "CASE WHEN (typeof({0}) LIKE '%]' OR typeof({0}) LIKE 'MAP(%') AND {0}[{1}] IS NULL"
            " THEN error('a member is absent, and its default is not known here:"
            " write if(mapContains(...), ...), or arrayElementOrNull') ELSE {0}[{1}] END"
        ),
    },
    "hex_of_clickhouse": {"TEXT": "hex({0})", "BYTES": "hex({0})", "WHOLE": _HEX_OF_CLICKHOUSE},
    "bin_of_clickhouse": {"TEXT": "bin({0})", "WHOLE": _BIN_OF_CLICKHOUSE},
    "truth_of_snowflake": {"NUMBER": "{0} <> 0", "TEXT": _TRUTH},
    "moment_of_snowflake": {
        "DATE": _FULL,
        **_of_moments(_FULL),
        "TEXT": _MOMENT_OF_SNOWFLAKE,
        "NUMBER": "make_timestamp(CAST(round(CAST({0} AS DECIMAL(30, 6)) * 1000000) AS BIGINT))",
    },
    **{
        f"clock_{part}": {
            **_of_moments(f"{part}({_FULL})"),
            "DATE": f"{part}({_FULL})",
            "TIME": f"{part}({{0}})",
        }
        for part in ("hour", "minute", "second")
    },
    **{f"{part}_of_mysql": _clock_of_mysql(body) for part, body in _CLOCK_OF_MYSQL.items()},
}
"""By the overload's name. `shifted` adds the interval `{1}` and keeps a DATE a DATE.

With `_clock` and `_moment` a DATE becomes a moment; with `_strictly` there is no form for it. `truncated` is
`date_trunc`; `week_begun` is the first day of weeks that begin `{1}` days before Monday.
`written` is a value as CONCAT writes it. `rounded` takes halves of floats to the even number. `document_of`
writes moments as ISO 8601 does.
`flat_values` are the members of an object or the elements of an array; the former have `flat_keys`, the
latter `flat_places`. `clock_` takes a part of a moment or of a time of day.
"""
WAYS_OUT: Mapping[str, str] = {"text_of_oracle": "write the value with TO_CHAR and a format"}
"""What to write instead of an overload that does not take a type, where a cast is none."""
