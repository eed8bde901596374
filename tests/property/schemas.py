"""Random tables and random rows for them.

Values come from small domains, so that joins hit and groups fill; NULLs are frequent where a column
takes them. The first table is always a graph: two INTEGER columns over the same few nodes, and a weight.
Floats are multiples of a quarter: their sums are exact in any order, so that two engines that add in
different orders still give the same bits. Some tables hold NaN and the infinities, some extreme numbers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID as Identifier

from engine.schema import (
    BIGINT,
    BIT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTEGER_RANGES,
    INTERVAL,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    Column,
    Kind,
    Schema,
    Type,
    array_of,
    map_of,
    numeric,
    struct_of,
    whole,
)

Row = tuple[object, ...]

TEXTS = ("", "a", "b", "ab", "B", "aB", "abc", "10", " x ", "a%", "a_b", "é", "Ünï", "你好", "🙂", "zz")
DAYS = (*(date(2024, 1, 30) + timedelta(days=n) for n in range(6)), date(1969, 12, 31), date(2023, 2, 28))
MOMENTS = (
    datetime(2024, 1, 31),
    datetime(2024, 1, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 1, 12, 30),
    datetime(2024, 2, 29, 6, 0, 0, 500000),
    datetime(1969, 12, 31, 23, 59, 59),
    datetime(2000, 1, 1),
)
SPECIALS = (float("nan"), float("inf"), float("-inf"), -0.0)
ZONED_CLOCKS = ("12:00:00+02", "11:00:00+01", "10:00:00.5+00", "23:59:59.999999-15:59:59", "00:00:00+00")
BITS = ("1", "0", "101", "10", "00000000", "000000001", "11111111")
CLOCKS = (time(0), time(12, 30), time(23, 59, 59, 999999), time(6, 0, 0, 500000))
INSTANTS = tuple(moment.replace(tzinfo=UTC) for moment in MOMENTS)
INTERVALS = {
    "P1D": "1 day",
    "P1M": "1 month",
    "P31D": "31 days",  # 30 would be a month's equal to DuckDB
    "PT36H": "36 hours",
    "P-1Y": "-1 year",
    "PT0S": "0 s",
}
BYTES = (b"", b"a", b"ab", b"\x00\xff", b"\xff")
IDENTIFIERS = tuple(Identifier(int=n) for n in (0, 1, 2**127, 2**128 - 1))
DOCUMENTS = (
    "{}",
    "[]",
    "7",
    '"text"',
    '{"a":1,"b":"x","c":null,"d":[1,2]}',
    '{"b":"y","a":{"a":2},"xs":[{"y":1,"zs":[true,null]},{"y":2,"zs":[]},{"zs":["é"]}]}',
    '[1,"2",null,{"a":3},[4,5]]',
    '[{"a":1,"b":"one","xs":[1,2],"d":[7]},{"a":"x","b":{"c":1}},{"b":null,"xs":[],"d":[{"e":8}]}]',
    '{"xs":[],"a b":true,"a":[{"a":5},{"a":"6"}]}',
)
LISTS = ((), (1,), (1, 2), (2, None), (None,), (1, 1, 3))
TYPES = (INTEGER, INTEGER, BIGINT, SMALLINT, TEXT, TEXT, BOOLEAN, DOUBLE, REAL, DATE, TIMESTAMP)
NUMERICS = (numeric(6, 2), numeric(9, 3), numeric(10, 1), numeric(18, 4))
PAIR = struct_of((("a", INTEGER), ("b", TEXT)))
NUMBERED = map_of(TEXT, INTEGER)
NATURAL = whole("UINTEGER")
OTHERS = (
    *(
        TIME,
        TIMETZ,
        BIT,
        TIMESTAMPTZ,
        TIMESTAMPTZ,
        INTERVAL,
        BYTEA,
        UUID,
        array_of(INTEGER),
        PAIR,
        PAIR,
        NUMBERED,
    ),
    *(NATURAL, NATURAL),
)
NAMES = "abcdefghkmpqv"


@dataclass(frozen=True)
class Table:
    """A table and what its values are like. `key` has the positions of the primary key, None: a bag."""

    name: str
    schema: Schema
    key: tuple[int, ...] | None = None
    special: bool = False  # floats may be NaN and infinite
    extreme: bool = False  # integers may be the greatest and least

    def key_of(self, row: Row) -> Row:
        return tuple(row[i] for i in self.key) if self.key is not None else row


def random_tables(rng: random.Random) -> tuple[Table, ...]:
    """A graph and one to three other tables."""
    names = rng.sample(["orders", "items", "people", "log", "stock"], rng.randint(1, 3))
    return (random_graph(rng), *(random_table(rng, name) for name in names))


def random_graph(rng: random.Random) -> Table:
    nullable = rng.random() < 0.3
    weight = rng.choice([INTEGER, INTEGER, BIGINT, numeric(6, 2)])
    columns = [Column("src", INTEGER, nullable), Column("dst", INTEGER, nullable), Column("w", weight, True)]
    key = rng.choice([None, None, (0, 1)]) if not nullable else None
    return Table("edges", Schema(tuple(columns)), key)


def random_table(rng: random.Random, name: str) -> Table:
    types = [_random_type(rng) for _ in range(rng.randint(1, 5))]
    key = tuple(sorted(rng.sample(range(len(types)), min(len(types), rng.choice([1, 1, 2])))))
    keyed = rng.random() < 0.5 and not any(types[i].is_float or types[i] == BOOLEAN for i in key)
    names = rng.sample(NAMES, len(types))
    columns = tuple(
        Column(column, kind, not (keyed and i in key) and rng.random() < 0.7)
        for i, (column, kind) in enumerate(zip(names, types, strict=True))
    )
    special, extreme = rng.random() < 0.15, rng.random() < 0.04
    return Table(name, Schema(columns), key if keyed else None, special, extreme)


def _random_type(rng: random.Random) -> Type:
    draw = rng.random()
    return rng.choice(NUMERICS if draw < 0.15 else OTHERS if draw < 0.25 else TYPES)


def random_row(rng: random.Random, table: Table) -> Row:
    return tuple(random_value(rng, column, table) for column in table.schema.columns)


def random_value(rng: random.Random, column: Column, table: Table) -> object:
    if column.nullable and rng.random() < 0.15:
        return None
    kind = column.type
    if kind == NATURAL and not table.extreme:
        return rng.choice((0, 1, 1, 2, 3, 7))
    if kind.whole:
        low, high = (-(10**36), 10**36) if kind.whole == "HUGEINT" else kind.bounds  # DuckDB's ends elsewhere
        return rng.choice((low, 0, 1, 1, 2, 3, 7, high))
    if kind.is_integer:
        if table.extreme and rng.random() < 0.2:
            return rng.choice(INTEGER_RANGES[kind.kind])
        return rng.choice((-1, 0, 0, 1, 1, 2, 2, 3, 4))
    if kind.is_float:
        return rng.choice(SPECIALS) if table.special and rng.random() < 0.3 else rng.randint(-6, 10) / 4
    if kind.kind is Kind.NUMERIC:
        return _random_decimal(rng, kind)
    if kind.parts and kind != array_of(INTEGER):
        return _random_nested(rng, kind, table)
    domains: dict[Kind, tuple[object, ...]] = {
        Kind.BOOLEAN: (True, False),
        Kind.TEXT: TEXTS,
        Kind.DATE: DAYS,
        Kind.TIMESTAMP: MOMENTS,
        Kind.TIME: CLOCKS,
        Kind.TIMETZ: ZONED_CLOCKS,
        Kind.BIT: BITS,
        Kind.TIMESTAMPTZ: INSTANTS,
        Kind.INTERVAL: tuple(INTERVALS),
        Kind.BYTEA: BYTES,
        Kind.UUID: IDENTIFIERS,
        Kind.ARRAY: LISTS,
        Kind.JSON: DOCUMENTS,
    }
    return rng.choice(kind.labels or domains[kind.kind])


def _random_nested(rng: random.Random, kind: Type, table: Table) -> Row:
    """A struct as its values, an array as its elements, a map as its entries."""
    if kind.kind is Kind.STRUCT:
        return tuple(random_value(rng, Column("", part), table) for part in kind.parts)
    if kind.kind is Kind.ARRAY:
        return tuple(random_value(rng, Column("", kind.parts[0]), table) for _ in range(rng.randint(0, 3)))
    key, value = kind.parts
    keys = {random_value(rng, Column("", key, False), table) for _ in range(rng.randint(0, 3))}
    return tuple((each, random_value(rng, Column("", value), table)) for each in sorted(keys))  # type: ignore[type-var]


def _random_decimal(rng: random.Random, kind: Type) -> Decimal:
    step = rng.choice((Decimal("0.5"), Decimal("0.1"), Decimal("1")))
    return (rng.randint(-4, 8) * step).quantize(Decimal(1).scaleb(-(kind.scale or 0)))
