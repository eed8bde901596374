"""Functions that write moments by formats, by dialect: their arguments and their language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.schema import Kind
from planner.formats import letters, oracle, percents, postgres
from planner.formats.format_scanner import Scan
from planner.formats.write_formats import CENTURIES, FINITE

MOMENT = "CAST({0} AS TIMESTAMP)"
_DAY = "CAST(CAST({0} AS DATE) AS TIMESTAMP)"
_CLOCK = "(DATE '1970-01-01' + CAST({0} AS TIME))"
_SECONDS = "make_timestamp(CAST({0} AS BIGINT) * 1000000)"


MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
_OR_TEXT = MOMENTS | {Kind.TEXT}
_CLOCKS = frozenset({Kind.TIME})
_INTEGERS = frozenset({Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT})


@dataclass(frozen=True)
class WriteFunction:
    """A function that writes a moment as text: `{0}` of `source` is its argument `value`, of one of
    `kinds`."""

    scan: Scan
    system: str
    source: str = MOMENT
    kinds: frozenset[Kind] = MOMENTS
    guard: str = CENTURIES
    value: int = 0
    form: int = 1


def _writers(scan: Scan, system: str, *names: str, **options: object) -> dict[str, WriteFunction]:
    return dict.fromkeys(names, WriteFunction(scan, system, **options))  # type: ignore[arg-type]


_POSTGRES = _writers(postgres.postgres, "PostgreSQL", "TO_CHAR", guard=FINITE)
_REDSHIFT = _writers(postgres.redshift, "Redshift", "TO_CHAR", guard=FINITE)
_MATERIALIZE = _writers(postgres.materialize, "Materialize", "TO_CHAR", guard=FINITE)
_RISINGWAVE = _writers(postgres.risingwave, "RisingWave", "TO_CHAR")
_ORACLE = _writers(oracle.oracle, "Oracle", "TO_CHAR")
_SNOWFLAKE = _writers(oracle.snowflake, "Snowflake", "TO_CHAR", "TO_VARCHAR")
_MYSQL = {
    **_writers(percents.mysql, "MySQL", "DATE_FORMAT", kinds=_OR_TEXT),
    **_writers(percents.mysql_time, "MySQL", "TIME_FORMAT", source=_CLOCK, kinds=_CLOCKS | {Kind.TEXT}),
    **_writers(percents.mysql, "MySQL", "FROM_UNIXTIME", source=_SECONDS, kinds=_INTEGERS),
}
_TRINO = {
    **_writers(percents.trino, "Trino", "DATE_FORMAT"),
    **_writers(letters.joda, "Joda", "FORMAT_DATETIME"),
}
_CLICKHOUSE = {
    **_writers(percents.clickhouse, "ClickHouse", "FORMATDATETIME", "DATE_FORMAT", kinds=_OR_TEXT),
    **_writers(letters.joda, "Joda", "FORMATDATETIMEINJODASYNTAX"),
}
_SPARK = {
    **_writers(letters.spark, "Spark", "DATE_FORMAT", kinds=_OR_TEXT),
    **_writers(letters.spark, "Spark", "TO_CHAR", "TO_VARCHAR"),
    **_writers(letters.spark, "Spark", "FROM_UNIXTIME", source=_SECONDS, kinds=_INTEGERS),
}
_HIVE = {
    **_writers(letters.hive, "Hive", "DATE_FORMAT", kinds=_OR_TEXT),
    **_writers(letters.hive, "Hive", "FROM_UNIXTIME", source=_SECONDS, kinds=_INTEGERS),
}
_BIGQUERY = {
    **_writers(percents.bigquery_date, "FORMAT_DATE", "FORMAT_DATE", source=_DAY, value=1, form=0),
    **_writers(
        percents.bigquery_time, "FORMAT_TIME", "FORMAT_TIME", source=_CLOCK, kinds=_CLOCKS, value=1, form=0
    ),
    **_writers(percents.bigquery_datetime, "FORMAT_DATETIME", "FORMAT_DATETIME", value=1, form=0),
    **_writers(percents.bigquery_timestamp, "FORMAT_TIMESTAMP", "FORMAT_TIMESTAMP", value=1, form=0),
}
_SQLITE = _writers(percents.sqlite, "SQLite", "STRFTIME", kinds=_OR_TEXT, value=1, form=0)
_TSQL = _writers(letters.dotnet, "FORMAT", "FORMAT")

WRITERS: Mapping[str, Mapping[str, WriteFunction]] = {
    "postgres": _POSTGRES,
    "redshift": _REDSHIFT,
    "materialize": _MATERIALIZE,
    "risingwave": _RISINGWAVE,
    "oracle": _ORACLE,
    "snowflake": _SNOWFLAKE,
    **dict.fromkeys(("mysql", "doris", "starrocks", "singlestore"), _MYSQL),
    **dict.fromkeys(("trino", "presto", "athena", "dune"), _TRINO),
    "clickhouse": _CLICKHOUSE,
    **dict.fromkeys(("spark", "databricks"), _SPARK),
    **dict.fromkeys(("hive", "spark2"), _HIVE),
    "bigquery": _BIGQUERY,
    "sqlite": _SQLITE,
    **dict.fromkeys(("tsql", "fabric"), _TSQL),
    "flink": {
        **_writers(letters.spark, "Flink", "DATE_FORMAT", kinds=_OR_TEXT),
        **_writers(letters.spark, "Flink", "FROM_UNIXTIME", source=_SECONDS, kinds=_INTEGERS),
    },
    "drill": _writers(letters.joda, "Joda", "TO_CHAR"),
}
"""By dialect and name in upper case."""
CAST_AS_TEXT = WriteFunction(oracle.bigquery, "CAST ... FORMAT")
