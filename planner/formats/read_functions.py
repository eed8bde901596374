"""Functions that read moments by formats, by dialect: their arguments, their language, their strictness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.formats import letters, oracle, percents, postgres
from planner.formats.format_scanner import Scan
from planner.formats.read_formats import ReadRules


@dataclass(frozen=True)
class ReadFunction:
    """Reads a moment from the argument `value`, a text; `read_formats.read_expression` explains `result`."""

    scan: Scan
    system: str
    rules: ReadRules
    result: str = ""
    value: int = 0
    form: int = 1


_AT_70 = ReadRules(pivot=70)
_ORACLE_READS = ReadRules(defaults=False, pivot=100)
_MYSQL_READS = ReadRules(pivot=70, defaults=False, nulls=True, loose=True)
_JAVA = ReadRules(free=None)
_SPARK_READS = ReadRules(free=None, pivot=100)
_PERCENT_READS = ReadRules(pivot=69)
_CLICKHOUSE_READS = ReadRules(free=False, pivot=70)


def _or_null(rules: ReadRules) -> ReadRules:
    return replace(rules, nulls=True)


def _readers(
    scan: Scan, system: str, rules: ReadRules, results: Mapping[str, str], form: int = 1
) -> dict[str, ReadFunction]:
    return {
        name: ReadFunction(scan, system, rules, result, value=1 - form, form=form)
        for name, result in results.items()
    }


def _snowflake(prefix: str, rules: ReadRules) -> dict[str, ReadFunction]:
    names = {
        f"{prefix}TO_DATE": "DATE",
        **dict.fromkeys((f"{prefix}TO_TIMESTAMP", f"{prefix}TO_TIMESTAMP_NTZ"), "TIMESTAMP"),
        **dict.fromkeys((f"{prefix}TO_TIMESTAMP_TZ", f"{prefix}TO_TIMESTAMP_LTZ"), "TIMESTAMPTZ"),
        f"{prefix}TO_TIME": "TIME",
    }
    return _readers(oracle.snowflake, "Snowflake", rules, names)


_DATE_AND_INSTANT = {"TO_DATE": "DATE", "TO_TIMESTAMP": "TIMESTAMPTZ"}
_SPARK_READERS = {
    **_readers(letters.spark, "Spark", _SPARK_READS, {"TO_DATE": "DATE", "TO_TIMESTAMP": "TIMESTAMP"}),
    **_readers(
        letters.spark, "Spark", _SPARK_READS, {"UNIX_TIMESTAMP": "SECONDS", "TO_UNIX_TIMESTAMP": "SECONDS"}
    ),
    **_readers(
        letters.spark,
        "Spark",
        _or_null(_SPARK_READS),
        {"TRY_TO_DATE": "DATE", "TRY_TO_TIMESTAMP": "TIMESTAMP"},
    ),
}
_HIVE_READERS = _readers(
    letters.hive, "Hive", _JAVA, {"UNIX_TIMESTAMP": "SECONDS", "TO_DATE": "DATE", "TO_TIMESTAMP": "TIMESTAMP"}
)
_TRINO_READERS = {
    **_readers(percents.trino, "Trino", ReadRules(), {"DATE_PARSE": "TIMESTAMP"}),
    **_readers(letters.joda, "Joda", _JAVA, {"PARSE_DATETIME": "TIMESTAMPTZ"}),
}
_BIGQUERY_READERS = {
    **_readers(percents.bigquery_date, "PARSE_DATE", _PERCENT_READS, {"PARSE_DATE": "DATE"}, 0),
    **_readers(percents.bigquery_time, "PARSE_TIME", _PERCENT_READS, {"PARSE_TIME": "TIME"}, 0),
    **_readers(
        percents.bigquery_datetime, "PARSE_DATETIME", _PERCENT_READS, {"PARSE_DATETIME": "TIMESTAMP"}, 0
    ),
    **_readers(
        percents.bigquery_datetime, "PARSE_TIMESTAMP", _PERCENT_READS, {"PARSE_TIMESTAMP": "TIMESTAMPTZ"}, 0
    ),
}


def _clickhouse(ending: str, percent: ReadRules, joda: ReadRules) -> Mapping[str, ReadFunction]:
    """parseDateTime, and parseDateTimeInJodaSyntax."""
    return {
        **_readers(percents.clickhouse, "ClickHouse", percent, {f"PARSEDATETIME{ending}": "TIMESTAMP"}),
        **_readers(letters.joda, "Joda", joda, {f"PARSEDATETIMEINJODASYNTAX{ending}": "TIMESTAMP"}),
    }


READERS: Mapping[str, Mapping[str, ReadFunction]] = {
    "postgres": _readers(postgres.postgres, "PostgreSQL", _AT_70, _DATE_AND_INSTANT),
    "redshift": _readers(postgres.redshift, "Redshift", _AT_70, _DATE_AND_INSTANT),
    "risingwave": _readers(postgres.risingwave, "RisingWave", ReadRules(free=False), _DATE_AND_INSTANT),
    "oracle": _readers(oracle.oracle, "Oracle", _ORACLE_READS, {"TO_DATE": "", "TO_TIMESTAMP": "TIMESTAMP"}),
    "snowflake": {
        **_readers(oracle.snowflake, "Snowflake", _AT_70, {"DATE": "DATE"}),
        **_snowflake("", _AT_70),
        **_snowflake("TRY_", _or_null(_AT_70)),
    },
    **dict.fromkeys(
        ("mysql", "doris", "starrocks", "singlestore"),
        _readers(percents.mysql, "MySQL", _MYSQL_READS, {"STR_TO_DATE": ""}),
    ),
    **dict.fromkeys(("trino", "presto", "athena", "dune"), _TRINO_READERS),
    "clickhouse": {
        **_clickhouse("", _CLICKHOUSE_READS, _JAVA),
        **_clickhouse("ORNULL", _or_null(_CLICKHOUSE_READS), _or_null(_JAVA)),
    },
    **dict.fromkeys(("spark", "databricks"), _SPARK_READERS),
    **dict.fromkeys(("hive", "spark2"), _HIVE_READERS),
    "flink": _readers(
        letters.spark,
        "Flink",
        _or_null(_JAVA),
        {"TO_DATE": "DATE", "TO_TIMESTAMP": "TIMESTAMP", "UNIX_TIMESTAMP": "SECONDS"},
    ),
    "bigquery": _BIGQUERY_READERS,
}
"""By dialect and name in upper case."""
