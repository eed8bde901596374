"""Types in three tongues, and what is no type here."""

from __future__ import annotations

import pytest
from sqlglot import exp

from engine.schema import (
    BIGINT,
    BIT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    Type,
    array_of,
    enumeration,
    map_of,
    numeric,
    row_of,
    struct_of,
    whole,
)
from planner.errors import TypeMismatch, Unsupported
from planner.sql_types import data_type, duckdb_type, from_duckdb

WRITTEN = {
    "smallint": SMALLINT,
    "int": INTEGER,
    "int8": BIGINT,
    "real": REAL,
    "float": DOUBLE,
    "double precision": DOUBLE,
    "numeric": numeric(18, 3),
    "numeric(7)": numeric(7, 0),
    "decimal(12, 4)": numeric(12, 4),
    "bool": BOOLEAN,
    "text": TEXT,
    "varchar(20)": TEXT,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp without time zone": TIMESTAMP,
    "timestamptz": TIMESTAMPTZ,
    "timestamp with time zone": TIMESTAMPTZ,
    "time": TIME,
    "timetz": TIMETZ,
    "time with time zone": TIMETZ,
    "bit": BIT,
    "interval": INTERVAL,
    "interval day to second": INTERVAL,
    "bytea": BYTEA,
    "uuid": UUID,
    "json": JSON,
    "jsonb": JSON,
    "enum('sad', 'it''s')": enumeration("sad", "it's"),
    "int[]": array_of(INTEGER),
    "numeric(10, 2)[]": array_of(numeric(10, 2)),
    "text[][]": array_of(array_of(TEXT)),
}


@pytest.mark.parametrize(("written", "type"), WRITTEN.items())
def test_postgres_types(written: str, type: Type) -> None:
    assert data_type(exp.DataType.build(written, dialect="postgres")) == type


def test_a_dialect_has_its_own_names() -> None:
    assert data_type(exp.DataType.build("float", dialect="duckdb"), "duckdb") == REAL
    assert data_type(exp.DataType.build("datetime", dialect="mysql"), "mysql") == TIMESTAMP


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("hstore", "write JSON"),
        ("hstore[]", "write JSON"),
        ("int4range", "supported are SMALLINT"),
        ("inet", "write TEXT"),
    ],
)
def test_refused_by_name(written: str, hint: str) -> None:
    with pytest.raises(Unsupported, match="is not supported") as caught:
        data_type(exp.DataType.build(written, dialect="postgres"))
    assert hint in caught.value.hint


@pytest.mark.parametrize("written", ["numeric(40, 2)", "numeric(3, 5)", "numeric(0)"])
def test_digits_out_of_range(written: str) -> None:
    with pytest.raises(TypeMismatch, match="is not a type"):
        data_type(exp.DataType.build(written, dialect="postgres"))


@pytest.mark.parametrize("type", sorted(set(WRITTEN.values()), key=str))
def test_to_duckdb_and_back(type: Type) -> None:
    assert from_duckdb(duckdb_type(type)) == type


def test_what_duckdb_alone_has() -> None:
    assert from_duckdb("HUGEINT") == numeric(38, 0)
    assert from_duckdb("HUGEINT[]", huge=BIGINT) == array_of(BIGINT)
    assert from_duckdb("UTINYINT") == whole("UTINYINT")
    assert from_duckdb("UBIGINT[]") == array_of(whole("UBIGINT"))
    assert from_duckdb("INTEGER[3]") == array_of(INTEGER)
    assert from_duckdb('"NULL"[]') == array_of(INTEGER)
    with pytest.raises(Unsupported, match="UHUGEINT"):
        from_duckdb("UHUGEINT")
    with pytest.raises(Unsupported, match="UNION"):
        from_duckdb("UNION(a INTEGER)[]")


def test_nested_types() -> None:
    pair = struct_of([("a", INTEGER), ("B c", array_of(TEXT))])
    written = {
        ("duckdb", 'STRUCT(a INTEGER, "B c" TEXT[])'): pair,
        ("bigquery", "STRUCT<a INT64, b ARRAY<STRUCT<c STRING>>>"): struct_of(
            [("a", BIGINT), ("b", array_of(struct_of([("c", TEXT)])))]
        ),
        ("trino", "ROW(a INTEGER, b MAP(VARCHAR, DATE))"): struct_of(
            [("a", INTEGER), ("b", map_of(TEXT, DATE))]
        ),
        ("trino", "ROW(INTEGER, VARCHAR)"): row_of([INTEGER, TEXT]),
        ("spark", "struct<a:int,`B c`:array<string>>"): pair,
        ("clickhouse", "Map(String, Int32)"): map_of(TEXT, INTEGER),
        ("clickhouse", "Array(DateTime64(6, 'UTC'))"): array_of(TIMESTAMP),
        ("postgres", "MAP(TEXT, NUMERIC(30, 2))[]"): array_of(map_of(TEXT, numeric(30, 2))),
    }
    for (dialect, text), type in written.items():
        assert data_type(exp.DataType.build(text, dialect=dialect), dialect) == type
        assert data_type(exp.DataType.build(str(type), dialect="postgres")) == type
        assert from_duckdb(duckdb_type(type)) == type
    odd = struct_of([('a"),', enumeration("x)", "y'\"")), ("b", row_of([INTEGER, map_of(UUID, JSON)]))])
    assert from_duckdb(duckdb_type(odd)) == odd


@pytest.mark.parametrize(
    ("text", "what"), [("DateTime('Asia/Tokyo')", "keeps no zone"), ("DateTime64(9)", "up to 6 digits")]
)
def test_moments_of_clickhouse_that_are_none_here(text: str, what: str) -> None:
    with pytest.raises(Unsupported, match=what):
        data_type(exp.DataType.build(text, dialect="clickhouse"), "clickhouse")


def test_fields_have_names_of_their_own() -> None:
    with pytest.raises(TypeMismatch, match="a name of its own"):
        data_type(exp.DataType.build("STRUCT(a INTEGER, A TEXT)", dialect="duckdb"))


def test_names_of_fields_have_no_braces() -> None:
    with pytest.raises(Unsupported, match="no braces"):
        data_type(exp.DataType.build('STRUCT("{0}" INTEGER)', dialect="duckdb"))
