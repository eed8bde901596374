"""Tables through the client: every form of rows, every type of value, every operation."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

import freshet
from freshet import Connection, Table

COLUMNS = """id BIGINT PRIMARY KEY, flag BOOLEAN, small SMALLINT, number INTEGER, price NUMERIC(12, 2),
  huge NUMERIC(38, 0), ratio DOUBLE PRECISION, part REAL, name TEXT, day DATE, clock TIME, zoned TIMETZ,
  moment TIMESTAMP, instant TIMESTAMPTZ, span INTERVAL, data BYTEA, key UUID, bits BIT VARYING, doc JSON,
  list INTEGER[], pair STRUCT(a INTEGER, "B c" TEXT[]), counts MAP(TEXT, INTEGER)"""
ROW = {
    "id": 2**53 + 1,
    "flag": True,
    "small": -7,
    "number": 2**31 - 1,
    "price": Decimal("12345.60"),
    "huge": 10**37 + 1,
    "ratio": 0.1,
    "part": 0.5,
    "name": 'it\'s "quoted"; -- ü',
    "day": date(2024, 2, 29),
    "clock": time(23, 59, 59, 999999),
    "zoned": time(12, 30, 0, 500000, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
    "moment": datetime(2024, 2, 29, 1, 2, 3, 4),
    "instant": datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC),
    "span": timedelta(days=-3, seconds=1.5),
    "data": b"\x00\xff'",
    "key": UUID(int=5),
    "bits": "00101",
    "doc": {"a": [1, {"b": None}], "c": "x"},
    "list": [1, None, 3],
    "pair": {"a": 1, "B c": ["x", None]},
    "counts": {"k": 1, "": None},
}
NULLS = dict.fromkeys(ROW) | {"id": 1}
READ = ROW | {
    "huge": Decimal(10**37 + 1),
    "span": pa.MonthDayNano([0, -3, 1_500_000_000]),
    "key": str(UUID(int=5)),
}
"""What `ROW` is when it is read."""


@pytest.fixture
def table(db: Connection, name: str) -> Table:
    return db.table(name).create(COLUMNS)


@pytest.fixture
def small(db: Connection, name: str) -> Table:
    return db.table(name).create({"id": "BIGINT NOT NULL", "name": "TEXT"}, ["id"])


def by_id(table: Table) -> list[dict[str, Any]]:
    return table.rows(order_by="id").dicts()


def test_values_of_every_type_come_back(table: Table) -> None:
    told = table.insert([ROW, NULLS])
    assert told.changes == 2
    rows = table.rows(order_by="id")
    assert rows.dicts() == [NULLS, READ]
    assert rows.epoch == told.epoch
    assert rows.columns["doc"] == "JSON"


def test_rows_that_were_read_can_be_inserted(db: Connection, table: Table, name: str) -> None:
    """As Arrow, and as Python's values: both are what was there before."""
    table.insert([ROW, NULLS])
    copy = db.table(f"{name}_copy").create(table.rows(), ["id"])
    assert [(c.name, c.type) for c in copy.describe().columns] == [
        (c.name, c.type) for c in table.describe().columns
    ]
    copy.insert(table.rows())
    assert by_id(copy) == by_id(table)
    copy.upsert(table.rows().dicts())
    assert by_id(copy) == by_id(table)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_floats_that_json_lacks(table: Table, value: float) -> None:
    table.insert({"id": 1, "ratio": value, "part": np.float32(value)})
    (row,) = table.rows()
    assert np.array_equal([row["ratio"], row["part"]], [value, value], equal_nan=True)


@dataclass
class Named:
    id: int
    name: str | None = None


class Colour(enum.Enum):
    RED = "red"


def frames() -> dict[str, Callable[[list[dict[str, Any]]], object]]:
    """Functions from rows to each form that rows may have."""
    return {
        "dicts": lambda rows: rows,
        "generator": lambda rows: (row for row in rows),
        "dataclasses": lambda rows: [Named(**row) for row in rows],
        "arrow": pa.Table.from_pylist,
        "batch": pa.RecordBatch.from_pylist,
        "reader": lambda rows: pa.Table.from_pylist(rows).to_reader(),
        "pandas": lambda rows: pytest.importorskip("pandas").DataFrame(rows),
        "filtered pandas": lambda rows: _filtered(pytest.importorskip("pandas").DataFrame(rows)),
        "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows),
        "duckdb": lambda rows: _duckdb(pa.Table.from_pylist(rows)),
    }


def _filtered(frame: Any) -> Any:
    """The same rows with an index that is not a range, which pandas hands on as a column."""
    doubled = type(frame)(np.repeat(frame.to_numpy(), 3, axis=0), columns=frame.columns)
    return doubled[[i % 3 == 1 for i in range(len(doubled))]].astype(frame.dtypes)


def _duckdb(table: pa.Table) -> object:
    return import_module("duckdb").from_arrow(table)


@pytest.mark.parametrize("form", frames())
def test_rows_may_have_any_form(small: Table, form: str) -> None:
    make = frames()[form]
    assert small.insert(make([{"id": 1, "name": "a"}, {"id": 2, "name": "b"}])).changes == 2
    small.upsert(make([{"id": 2, "name": "c"}, {"id": 3, "name": "d"}]))
    small.delete(make([{"id": 1, "name": "a"}]))
    assert [tuple(row.values()) for row in by_id(small)] == [(2, "c"), (3, "d")]


def test_one_row_needs_no_list(small: Table) -> None:
    small.insert({"id": 1, "name": Colour.RED})
    small.upsert(Named(2))
    small.delete({"id": 1})
    assert by_id(small) == [{"id": 2, "name": None}]


def test_a_key_is_enough_to_delete_by_a_table(small: Table) -> None:
    small.insert([{"id": n} for n in range(5)])
    small.delete(pa.table({"id": [1, 3]}))
    assert [row["id"] for row in by_id(small)] == [0, 2, 4]


@pytest.mark.parametrize("tabular", [False, True])
def test_changes_name_their_operations(small: Table, tabular: bool) -> None:
    small.insert([{"id": 1}, {"id": 2}])
    if tabular:
        small.apply(pa.table({"id": [1, 2, 3], "name": [None, "b", "c"], "_op": ["delete", "upsert", None]}))
    else:
        small.apply([{"delete": {"id": 1}}, {"upsert": Named(2, "b")}, {"insert": {"id": 3, "name": "c"}}])
    assert by_id(small) == [{"id": 2, "name": "b"}, {"id": 3, "name": "c"}]


def test_rows_as_frames(small: Table) -> None:
    small.insert([{"id": 1, "name": "a"}, {"id": 2}])
    rows = small.rows(order_by="id")
    assert rows.arrow().to_pydict() == {"id": [1, 2], "name": ["a", None]}
    assert rows.tuples() == [(1, "a"), (2, None)]
    assert len(rows) == 2
    pytest.importorskip("pandas")
    assert rows.pandas()["id"].tolist() == [1, 2]


def test_rows_as_polars(table: Table) -> None:
    pytest.importorskip("polars")
    table.insert([ROW, NULLS])
    plain = [name for name in ROW if name != "span"]  # Polars has no intervals of months and days
    rows = freshet.Rows(table.rows(order_by="id").arrow().select(plain), 0)
    assert rows.polars().select("id", "price", "list").rows() == [
        (1, None, None),
        (2**53 + 1, Decimal("12345.60"), [1, None, 3]),
    ]


def test_choosing_rows(small: Table) -> None:
    epochs = [small.insert({"id": n, "name": "abc"[n]}).epoch for n in range(3)]
    assert [row["id"] for row in small.rows(where="id > 0", order_by="id DESC")] == [2, 1]
    assert len(small.rows(limit=2)) == 2
    assert len(small.rows(as_of=epochs[0])) == 1
    assert len(small.rows(as_of=datetime.now(UTC))) == 3
    with pytest.raises(freshet.Error, match="no time zone"):
        small.rows(as_of=datetime(2024, 1, 1))


def test_several_tables_in_one_epoch(db: Connection, table: Table, name: str) -> None:
    other = db.table(f"{name}_other").create("id BIGINT")
    with db.changing() as changing:
        changing.table(name).insert([ROW])
        changing.table(f"{name}_other").insert(pa.table({"id": [1, 2]}))
        changing.table(name).upsert(NULLS)
    assert by_id(table) == [NULLS, READ]
    assert table.rows().epoch == other.rows().epoch == changing.epoch
    with db.changing() as changing:
        changing.table(name).upsert(table.rows())  # JSON is text in a table, and a value in a change
        changing.table(f"{name}_other").apply(pa.table({"id": [1], "_op": ["delete"]}))
    assert by_id(table) == [NULLS, READ]
    assert other.rows().dicts() == [{"id": 2}]


def test_nothing_is_applied_if_the_block_raises(db: Connection, small: Table) -> None:
    with pytest.raises(ZeroDivisionError), db.changing() as changing:
        changing.table(small.name).insert({"id": 1})
        _ = 1 / 0
    assert len(small.rows()) == 0
    with db.changing() as changing:
        pass
    assert changing.epoch is None


def test_definitions_are_described(db: Connection, small: Table) -> None:
    described = small.describe()
    assert described in db.tables()
    assert described.primary_key == ("id",)
    assert [(c.name, c.type, c.nullable) for c in described.columns] == [
        ("id", "BIGINT", False),
        ("name", "TEXT", True),
    ]
    small.drop()
    assert small.name not in [table.name for table in db.tables()]


@pytest.mark.parametrize(
    "columns",
    [
        "id BIGINT, name TEXT",
        {"id": "BIGINT", "name": "TEXT"},
        pa.schema({"id": pa.int64(), "name": pa.string()}),
        pa.table({"id": [1], "name": ["a"]}),
    ],
    ids=["sql", "types", "schema", "table"],
)
def test_columns_may_have_any_form(db: Connection, name: str, columns: object) -> None:
    table = db.table(name).create(columns)
    assert {c.name: c.type for c in table.describe().columns} == {"id": "BIGINT", "name": "TEXT"}


def test_names_are_those_of_sql(db: Connection, name: str) -> None:
    quoted = f'"{name} of Ünï?&#%"'
    table = db.table(quoted).create({'"a b"': "BIGINT", "Plain": "TEXT"})
    table.insert({"a b": 1, "plain": "x"})
    assert table.rows().dicts() == [{"a b": 1, "plain": "x"}]
    copy = db.table(f"{name}_copy").create(pa.table({"Upper": [1]}))
    assert copy.describe().columns[0].name == "Upper"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (5, "not rows: 5"),
        ("text", "not rows"),
        ([5], "not a row: 5"),
        ({"id": object()}, "has no form in SQL"),
        ({"id": {"a": Decimal(1)}}, "JSON cannot hold"),
        ({"id": {"a": [float("nan")]}}, "JSON cannot hold"),
        (pa.table({"_op": ["insert"]}), "pass it to apply"),
    ],
)
def test_what_is_no_row_is_refused(small: Table, db: Connection, rows: object, message: str) -> None:
    with pytest.raises(freshet.InvalidRequestError, match=message):
        small.insert(rows)
    with pytest.raises(freshet.InvalidRequestError, match=message), db.changing() as changing:
        changing.table(small.name).insert(rows)
    assert len(small.rows()) == 0


@pytest.mark.parametrize("change", [5, {"replace": {}}, {"insert": {}, "delete": {}}, {"insert": 5}])
def test_what_is_no_change_is_refused(small: Table, change: object) -> None:
    with pytest.raises(freshet.InvalidRequestError, match="not a"):
        small.apply([change])
