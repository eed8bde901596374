"""The meaning of each dialect's date functions, by their `signatures`: a meaning (`@shift`), a part
(`#DAYOFYEAR`), or DuckDB's SQL over the arguments in order.

A function of a dialect's manual that is missing here is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[str, str]

_FIELDS: Table = {
    "YEAR(at)": "#YEAR",
    "MONTH(at)": "#MONTH",
    "DAY(at)": "#DAY",
}
_MORE_FIELDS: Table = {
    **_FIELDS,
    "QUARTER(at)": "#QUARTER",
    "DAYOFMONTH(at)": "#DAY",
    "DAYOFYEAR(at)": "#DAYOFYEAR",
    "HOUR(at)": "#HOUR",
    "MINUTE(at)": "#MINUTE",
    "SECOND(at)": "#SECOND",
}
_DAY_FROM_PARTS = (
    "CAST(make_date(CAST({0} AS INTEGER), 1, 1) + to_months(CAST({1} AS INTEGER) - 1)"
    " + to_days(CAST({2} AS INTEGER) - 1) AS DATE)"
)
_DAY = "CAST(CAST({0} AS TIMESTAMP) AS DATE)"
_SINCE_DAYS = "CAST(date_diff('day', DATE '1970-01-01', CAST({0} AS TIMESTAMP)) AS INTEGER)"
_WHOLE_SECONDS = "epoch_us(CAST({0} AS TIMESTAMP)) // 1000000"
_OF_MICROSECONDS = "CAST(make_timestamp(CAST({0} AS BIGINT)) AS TIMESTAMPTZ)"
_OF_MILLISECONDS = "CAST(make_timestamp(CAST({0} AS BIGINT) * 1000) AS TIMESTAMPTZ)"
_OF_SECONDS = (
    "CAST(make_timestamp(CAST(round(CAST({0} AS DECIMAL(30, 6)) * 1000000) AS BIGINT)) AS TIMESTAMPTZ)"
)
_OF_SECONDS_IN_UTC = _OF_SECONDS.replace("TIMESTAMPTZ", "TIMESTAMP")

_MOMENT_FROM_PARTS = (
    f"CAST({_DAY_FROM_PARTS} AS TIMESTAMP) + to_hours(CAST({{3}} AS BIGINT))"
    " + to_minutes(CAST({4} AS BIGINT)) + to_seconds(CAST({5} AS BIGINT))"
)
_MOMENT_WITH_FRACTION = f"{_MOMENT_FROM_PARTS} + to_microseconds({{6}} // 1000)"
_BETWEEN_ZONES = "timezone({1}, timezone({0}, CAST({2} AS TIMESTAMP)))"
_OF_PARTS = "TIMESTAMP_FROM_PARTS | TIMESTAMPFROMPARTS | TIMESTAMP_NTZ_FROM_PARTS | TIMESTAMPNTZFROMPARTS"

SNOWFLAKE: Table = {
    **_MORE_FIELDS,
    "DATEADD | TIMEADD | TIMESTAMPADD(unit, n, at)": "@shift",
    "ADD_MONTHS(at, n)": "@add_months_at_end",
    "DATEDIFF | TIMEDIFF | TIMESTAMPDIFF(unit, a, b)": "@boundaries",
    "MONTHS_BETWEEN(b, a)": "@months_between",
    "DATE_TRUNC(unit, at)": "@truncate",
    "TRUNC(at)": "trunc({0})",
    "TRUNC(at, unit)": "@truncate_or_number",
    "LAST_DAY(at, unit?)": "@last_day",
    "NEXT_DAY(at, day)": "@next_day",
    "PREVIOUS_DAY(at, day)": "@previous_day",
    "DATE_PART | EXTRACT(unit, at)": "@extract",
    "WEEK | WEEKOFYEAR | WEEKISO(at)": "#ISOWEEK",
    "YEAROFWEEK | YEAROFWEEKISO(at)": "#ISOYEAR",
    "DAYOFWEEK(at)": "#FROM_SUNDAY_0",
    "DAYOFWEEKISO(at)": "#FROM_MONDAY",
    "DAYNAME(at)": "strftime(CAST({0} AS TIMESTAMP), '%a')",
    "MONTHNAME(at)": "strftime(CAST({0} AS TIMESTAMP), '%b')",
    "CONVERT_TIMEZONE(source, target, at)": _BETWEEN_ZONES,
    "TIME_SLICE(at, n, unit, end?)": "@slice",
    f"{_OF_PARTS}(year, month, day, hour, minute, second)": _MOMENT_FROM_PARTS,
    f"{_OF_PARTS}(year, month, day, hour, minute, second, n)": _MOMENT_WITH_FRACTION,
    f"{_OF_PARTS}(at, time)": "CAST({0} AS DATE) + CAST({1} AS TIME)",
    "DATE_FROM_PARTS | DATEFROMPARTS(year, month, day)": _DAY_FROM_PARTS,
    "DATE(at)": _DAY,
}
REDSHIFT: Table = {
    "DATEADD | DATE_ADD(unit, n, at)": "@shift",
    "ADD_MONTHS(at, n)": "@add_months_at_end",
    "DATEDIFF | DATE_DIFF(unit, a, b)": "@boundaries",
    "MONTHS_BETWEEN(b, a)": "@months_between",
    "DATE_TRUNC(unit, at)": "@truncate_moment",
    "CONVERT_TIMEZONE(target, at)": "timezone({0}, timezone('UTC', CAST({1} AS TIMESTAMP)))",
    "CONVERT_TIMEZONE(source, target, at)": _BETWEEN_ZONES,
    "TRUNC(at)": "@day_or_number",
    "TRUNC(at, digits)": "trunc({0}, {1})",
    "LAST_DAY(at)": "@last_day",
    "NEXT_DAY(at, day)": "@next_day",
    "DATE_PART | PGDATE_PART | EXTRACT(unit, at)": "@extract",
    "DATE_PART_YEAR(at)": "#YEAR",
    "DATE_CMP(a, b)": "CASE WHEN {0} < {1} THEN -1 WHEN {0} = {1} THEN 0 WHEN {0} > {1} THEN 1 END",
}
BIGQUERY: Table = {
    "DATE_ADD | TIME_ADD(at, by)": "@shift_by",
    "DATE_SUB | TIME_SUB(at, by)": "@shift_back_by",
    "DATETIME_ADD(at, by)": "@datetime_shift_by",
    "DATETIME_SUB(at, by)": "@datetime_shift_back_by",
    "TIMESTAMP_ADD(at, by)": "@zoned_shift_by",
    "TIMESTAMP_SUB(at, by)": "@zoned_shift_back_by",
    "DATE_DIFF | DATETIME_DIFF(b, a, unit)": "@boundaries",
    "TIMESTAMP_DIFF(b, a, unit)": "@elapsed",
    "DATE_TRUNC(at, unit)": "@truncate",
    "DATETIME_TRUNC(at, unit)": "@truncate_given",
    "TIMESTAMP_TRUNC(at, unit)": "@truncate_given_or_zoned",
    "LAST_DAY(at, unit?)": "@last_day",
    "EXTRACT(unit, at)": "@extract",
    "DATE(at)": _DAY,
    "DATE(at, zone)": "CAST(timezone({1}, CAST({0} AS TIMESTAMPTZ)) AS DATE)",
    "DATE(year, month, day)": "make_date({0}, {1}, {2})",
    "DATETIME(at)": "CAST({0} AS TIMESTAMP)",
    "DATETIME(at, zone)": "@datetime",
    "DATETIME(year, month, day, hour, minute, second)": "make_timestamp({0}, {1}, {2}, {3}, {4}, {5})",
    "TIME(at)": "CAST(CAST({0} AS TIMESTAMP) AS TIME)",
    "TIME(at, zone)": "CAST(timezone({1}, CAST({0} AS TIMESTAMPTZ)) AS TIME)",
    "TIME(hour, minute, second)": "make_time({0}, {1}, {2})",
    "TIME_DIFF(b, a, unit)": "@time_boundaries",
    "TIME_TRUNC(at, unit)": "@truncate_time",
    "TIMESTAMP_TRUNC(at, unit, zone)": "@truncate_there",
    "UNIX_DATE(at)": _SINCE_DAYS,
    "UNIX_SECONDS(at)": "#EPOCH",
    "UNIX_MILLIS(at)": "#EPOCH_MILLISECOND",
    "UNIX_MICROS(at)": "#EPOCH_MICROSECOND",
    "TIMESTAMP_SECONDS(n)": _OF_SECONDS,
    "TIMESTAMP_MILLIS(n)": _OF_MILLISECONDS,
    "TIMESTAMP_MICROS(n)": _OF_MICROSECONDS,
    "DATE_FROM_UNIX_DATE(n)": "DATE '1970-01-01' + CAST({0} AS INTEGER)",
}
SPARK: Table = {
    **_MORE_FIELDS,
    "DATE_ADD | DATEADD(at, n)": "@shift_day",
    "DATE_SUB(at, n)": "@shift_day_back",
    "DATE_ADD | DATEADD | TIMESTAMPADD(unit, n, at)": "@shift_moment",
    "ADD_MONTHS(at, n)": "@add_months",
    "DATEDIFF | DATE_DIFF(b, a)": "@days",
    "DATEDIFF | DATE_DIFF | TIMESTAMPDIFF(unit, a, b)": "@elapsed",
    "MONTHS_BETWEEN(b, a, rounds?)": "@months_between",
    "DATE_TRUNC(unit, at)": "@truncate_zoned",
    "TRUNC(at, unit)": "@truncate_day",
    "LAST_DAY(at)": "@last_day",
    "NEXT_DAY(at, day)": "@next_day",
    "DATE_PART | DATEPART | EXTRACT(unit, at)": "@extract",
    "DAYOFWEEK(at)": "#FROM_SUNDAY",
    "WEEKDAY(at)": "#FROM_MONDAY_0",
    "WEEKOFYEAR(at)": "#ISOWEEK",
    "DAYNAME(at)": "strftime(CAST({0} AS TIMESTAMP), '%a')",
    "MONTHNAME(at)": "strftime(CAST({0} AS TIMESTAMP), '%b')",
    "DATE(at)": _DAY,
    "UNIX_DATE(at)": _SINCE_DAYS,
    "UNIX_SECONDS(at)": "#EPOCH",
    "UNIX_MILLIS(at)": "#EPOCH_MILLISECOND",
    "UNIX_MICROS(at)": "#EPOCH_MICROSECOND",
    "UNIX_TIMESTAMP | TO_UNIX_TIMESTAMP(at)": _WHOLE_SECONDS,
    "TIMESTAMP_SECONDS(n)": _OF_SECONDS,
    "TIMESTAMP_MILLIS(n)": _OF_MILLISECONDS,
    "TIMESTAMP_MICROS(n)": _OF_MICROSECONDS,
    "FROM_UNIXTIME(n)": "strftime(make_timestamp(CAST({0} AS BIGINT) * 1000000), '%Y-%m-%d %H:%M:%S')",
    "DATE_FROM_UNIX_DATE(n)": "DATE '1970-01-01' + CAST({0} AS INTEGER)",
    "MAKE_DATE(year, month, day)": "make_date({0}, {1}, {2})",
    "CONVERT_TIMEZONE(source, target, at)": _BETWEEN_ZONES,
    "FROM_UTC_TIMESTAMP(at, zone)": "timezone({1}, timezone('UTC', CAST({0} AS TIMESTAMP)))",
    "TO_UTC_TIMESTAMP(at, zone)": "timezone('UTC', timezone({1}, CAST({0} AS TIMESTAMP)))",
}
MYSQL: Table = {
    **_MORE_FIELDS,
    "DATE_ADD(at, by)": "@shift_interval",
    "DATE_SUB(at, by)": "@shift_back_interval",
    "ADDDATE(at, by)": "@shift_by",
    "SUBDATE(at, by)": "@shift_back_by",
    "TIMESTAMPADD(unit, n, at)": "@shift",
    "DATEDIFF(b, a)": "@days",
    "TIMESTAMPDIFF(unit, a, b)": "@elapsed",
    "LAST_DAY(at)": "@last_day",
    "EXTRACT(unit, at)": "@extract",
    "WEEK(at, mode?)": "@week",
    "YEARWEEK(at, mode?)": "@year_and_week",
    "WEEKOFYEAR(at)": "#ISOWEEK",
    "DAYOFWEEK(at)": "#FROM_SUNDAY",
    "WEEKDAY(at)": "#FROM_MONDAY_0",
    "MICROSECOND(at)": "#OWN_MICROSECOND",
    "DAYNAME(at)": "#DAY_NAME",
    "MONTHNAME(at)": "#MONTH_NAME",
    "TO_DAYS(at)": "date_diff('day', DATE '1970-01-01', CAST({0} AS TIMESTAMP)) + 719528",
    "FROM_DAYS(n)": "DATE '1970-01-01' + (CAST({0} AS INTEGER) - 719528)",
    "MAKEDATE(year, n)": (
        "CASE WHEN {1} > 0 THEN CAST(make_date({0}, 1, 1) + to_days(CAST({1} AS INTEGER) - 1) AS DATE) END"
    ),
    "DATE(at)": _DAY,
    "UNIX_TIMESTAMP(at)": "#EPOCH",
    "FROM_UNIXTIME(n)": _OF_SECONDS_IN_UTC,
    "PERIOD_DIFF(n, m)": "({0} // 100 - {1} // 100) * 12 + {0} % 100 - {1} % 100",
}
TSQL: Table = {
    **_FIELDS,
    "DATEADD(unit, n, at)": "@shift",
    "DATEDIFF | DATEDIFF_BIG(unit, a, b)": "@boundaries",
    "DATETRUNC(unit, at)": "@truncate",
    "DATEPART | DATENAME(unit, at)": "@extract",
    "EOMONTH(at)": "@last_day",
    "EOMONTH(at, n)": (
        "last_day(date_trunc('month', CAST({0} AS TIMESTAMP)) + to_months(CAST(trunc({1}) AS INTEGER)))"
    ),
    "DATEFROMPARTS(year, month, day)": "make_date({0}, {1}, {2})",
    "DATE_BUCKET(unit, n, at, origin?)": "@slice_from",
}
ORACLE: Table = {
    "ADD_MONTHS(at, n)": "@add_months_at_end",
    "MONTHS_BETWEEN(b, a)": "@months_between",
    "TRUNC(at)": "@day_or_number",
    "TRUNC(at, unit)": "@oracle_truncate",
    "LAST_DAY(at)": "@last_day_kept",
    "NEXT_DAY(at, day)": "@next_day_kept",
    "EXTRACT(unit, at)": "@extract",
}
_ISO_DAY = (
    "CASE WHEN regexp_full_match({0}, '[0-9]+-W[0-9]+') THEN CAST(strptime({0} || '-1', '%G-W%V-%u') AS DATE)"
    " WHEN regexp_full_match({0}, '[0-9]+-W[0-9]+-[1-7]') THEN CAST(strptime({0}, '%G-W%V-%u') AS DATE)"
    " WHEN regexp_full_match({0}, '[0-9]+-[0-9][0-9][0-9]') THEN CAST(strptime({0}, '%Y-%j') AS DATE)"
    " ELSE CAST({0} AS DATE) END"
)
"""A day by its week, 2020-W10 and 2020-W10-3, by its number in the year, 2020-123, or by its month."""

TRINO: Table = {
    **_MORE_FIELDS,
    "DATE_ADD(unit, n, at)": "@shift",
    "DATE_DIFF(unit, a, b)": "@elapsed",
    "DATE_TRUNC(unit, at)": "@truncate",
    "LAST_DAY_OF_MONTH(at)": "@last_day",
    "EXTRACT(unit, at)": "@extract",
    "WEEK | WEEK_OF_YEAR(at)": "#ISOWEEK",
    "YEAR_OF_WEEK | YOW(at)": "#ISOYEAR",
    "DAY_OF_WEEK | DOW(at)": "#FROM_MONDAY",
    "DAY_OF_MONTH(at)": "#DAY",
    "DAY_OF_YEAR | DOY(at)": "#DAYOFYEAR",
    "MILLISECOND(at)": "#OWN_MILLISECOND",
    "DATE(at)": _DAY,
    "FROM_ISO8601_DATE(at)": _ISO_DAY,
    "FROM_UNIXTIME(n)": _OF_SECONDS,
    "TO_UNIXTIME(at)": "epoch(CAST({0} AS TIMESTAMP))",
}
_CLICKHOUSE_SUMS: Table = {
    f"{name}{unit}S(at, n)": f"@shift_{way}:{unit}"
    for name, way in (("ADD", "on"), ("SUBTRACT", "off"))
    for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
}
CLICKHOUSE: Table = {
    **_MORE_FIELDS,
    **_CLICKHOUSE_SUMS,
    "DATEADD | DATE_ADD | TIMESTAMPADD | TIMESTAMP_ADD(unit, n, at)": "@shift",
    "DATESUB | DATE_SUB | TIMESTAMPSUB | TIMESTAMP_SUB(unit, n, at)": "@shift_back",
    "DATEADD | DATE_ADD | TIMESTAMP_ADD(at, by)": "@shift_by",
    "DATESUB | DATE_SUB | TIMESTAMP_SUB(at, by)": "@shift_back_by",
    "DATEDIFF | DATE_DIFF | TIMESTAMPDIFF | TIMESTAMP_DIFF(unit, a, b)": "@boundaries",
    "AGE(unit, a, b)": "@elapsed",
    "DATE_TRUNC | DATETRUNC(unit, at)": "@truncate_calendar",
    "TOSTARTOFYEAR(at)": "CAST(date_trunc('year', CAST({0} AS TIMESTAMP)) AS DATE)",
    "TOSTARTOFISOYEAR(at)": "CAST(date_trunc('isoyear', CAST({0} AS TIMESTAMP)) AS DATE)",
    "TOSTARTOFQUARTER(at)": "CAST(date_trunc('quarter', CAST({0} AS TIMESTAMP)) AS DATE)",
    "TOSTARTOFMONTH(at)": "CAST(date_trunc('month', CAST({0} AS TIMESTAMP)) AS DATE)",
    "TOLASTDAYOFMONTH(at)": "@last_day",
    "TOMONDAY(at)": "CAST(date_trunc('week', CAST({0} AS TIMESTAMP)) AS DATE)",
    "TOSTARTOFDAY(at)": "date_trunc('day', CAST({0} AS TIMESTAMP))",
    "TOSTARTOFHOUR(at)": "date_trunc('hour', CAST({0} AS TIMESTAMP))",
    "TOSTARTOFMINUTE(at)": "date_trunc('minute', CAST({0} AS TIMESTAMP))",
    "TOSTARTOFSECOND | TODATETIME(at)": "date_trunc('second', CAST({0} AS TIMESTAMP))",
    "EXTRACT(unit, at)": "@extract",
    "TOYEAR(at)": "#YEAR",
    "TOQUARTER(at)": "#QUARTER",
    "TOMONTH(at)": "#MONTH",
    "TODAYOFMONTH(at)": "#DAY",
    "TODAYOFYEAR(at)": "#DAYOFYEAR",
    "TODAYOFWEEK | DAYOFWEEK(at)": "#FROM_MONDAY",
    "TOHOUR(at)": "#HOUR",
    "TOMINUTE(at)": "#MINUTE",
    "TOSECOND(at)": "#SECOND",
    "TOISOWEEK(at)": "#ISOWEEK",
    "TOISOYEAR(at)": "#ISOYEAR",
    "TOWEEK | WEEK(at, mode?)": "@week",
    "TOYEARWEEK | YEARWEEK(at, mode?)": "@year_and_week",
    "TOYYYYMM(at)": "year(CAST({0} AS TIMESTAMP)) * 100 + month(CAST({0} AS TIMESTAMP))",
    "TOYYYYMMDD(at)": (
        "year(CAST({0} AS TIMESTAMP)) * 10000 + month(CAST({0} AS TIMESTAMP)) * 100"
        " + day(CAST({0} AS TIMESTAMP))"
    ),
    "TOUNIXTIMESTAMP(at)": "#EPOCH",
    "FROMUNIXTIMESTAMP(n)": _OF_SECONDS_IN_UTC,
    "TODATE | DATE(at)": _DAY,
    "MAKEDATE(year, month, day)": "make_date({0}, {1}, {2})",
}
FLINK: Table = {
    **_MORE_FIELDS,
    "WEEK(at)": "#ISOWEEK",
    "DAYOFWEEK(at)": "#FROM_SUNDAY",
    "TIMESTAMPADD(unit, n, at)": "@shift",
    "TIMESTAMPDIFF(unit, a, b)": "@elapsed",
    "EXTRACT(unit, at)": "@extract",
    "UNIX_TIMESTAMP(at)": "#EPOCH",
    "FROM_UNIXTIME(n)": ("strftime(make_timestamp(CAST({0} AS BIGINT) * 1000000), '%Y-%m-%d %H:%M:%S')"),
}
SQLITE: Table = {
    "DATE(at)": "strftime(CAST({0} AS TIMESTAMP), '%Y-%m-%d')",
    "DATETIME(at)": "strftime(CAST({0} AS TIMESTAMP), '%Y-%m-%d %H:%M:%S')",
    "TIME(at)": "strftime(CAST({0} AS TIMESTAMP), '%H:%M:%S')",
    "JULIANDAY(at)": "CAST(epoch_us(CAST({0} AS TIMESTAMP)) AS DOUBLE) / 86400000000 + 2440587.5",
    "UNIXEPOCH(at)": "#EPOCH",
}
TABLES: Mapping[str, Table] = {
    "snowflake": SNOWFLAKE,
    "redshift": REDSHIFT,
    "bigquery": BIGQUERY,
    "spark": SPARK,
    "mysql": MYSQL,
    "tsql": TSQL,
    "oracle": ORACLE,
    "trino": TRINO,
    "clickhouse": CLICKHOUSE,
    "flink": FLINK,
    "sqlite": SQLITE,
}
UNCHECKED = frozenset(
    {
        *("ADDTIME", "CONVERT_TIMEZONE", "CONVERT_TZ", "DATE_BIN", "FROM_UTC_TIMESTAMP"),
        *("MAKE_INTERVAL", "NEW_TIME", "PERIOD_ADD", "SUBTIME", "SWITCHOFFSET", "TIMEDIFF", "TIME_ADD"),
        *("TIME_DIFF", "TIME_SLICE", "TIME_SUB", "TIME_TRUNC", "TODATETIMEOFFSET", "TO_SECONDS"),
        *("TO_UTC_TIMESTAMP", "TOSTARTOFMILLISECOND"),
        *("TOSTARTOFMICROSECOND", "WEEK_START"),
    }
)
"""Functions that sqlglot or DuckDB has, but whose meaning in the systems above is not established."""
NUMERIC = frozenset({"TRUNC"})
"""Date functions of some systems that are numeric functions in others."""
FAMILIES: Mapping[str, str] = {
    **{name: name for name in TABLES},
    "databricks": "spark",
    "spark2": "spark",
    "hive": "spark",
    "presto": "trino",
    "athena": "trino",
    "fabric": "tsql",
}
"""The system whose rules a dialect has."""
