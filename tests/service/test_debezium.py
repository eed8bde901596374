"""Debezium's envelopes: single events, encodings of values, and whole histories against a dict."""

from __future__ import annotations

import random
from base64 import b64encode
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import orjson
import pytest

from engine.codec.json import decode_rows, encode_rows
from engine.errors import InvalidValue
from engine.plan.nodes import Source
from engine.schema import (
    BIGINT,
    BYTEA,
    DATE,
    INTERVAL,
    JSON,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    Column,
    Schema,
    Type,
    array_of,
    enumeration,
    numeric,
)
from engine.state.dictionary import Dictionary
from planner.relation import Relation
from service.decoding.debezium import EnvelopeReader
from service.definitions.definition import Definition
from service.errors import Invalid
from tests.seeds import each_seed
from tests.service.client import Client, code

DEBEZIUM = {"content-type": "application/vnd.debezium+json"}
COLUMNS = (Column("id", BIGINT, False), Column("name", TEXT))


def table(*columns: Column, key: tuple[int, ...] | None = (0,)) -> Definition:
    schema = Schema(columns or COLUMNS)
    return Definition(1, Relation("t", schema, Source("t", schema), key), 0)


def event(op: str, before: object = None, after: object = None) -> dict:
    return {"op": op, "before": before, "after": after, "source": {"table": "t"}, "ts_ms": 1}


def read(document: object, definition: Definition | None = None, unit: str | None = None) -> list[tuple]:
    changes = EnvelopeReader(definition or table(), unit).read(document, 7)
    return [(op.name, *row) for op, row in changes]


OLD, NEW = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}


@pytest.mark.parametrize(
    ("document", "keyed", "bag"),
    [
        (event("c", None, NEW), [("UPSERT", 1, "b")], [("INSERT", 1, "b")]),
        (event("r", None, NEW), [("UPSERT", 1, "b")], [("INSERT", 1, "b")]),
        (event("u", OLD, NEW), [("UPSERT", 1, "b")], [("DELETE", 1, "a"), ("INSERT", 1, "b")]),
        (
            event("u", OLD, {"id": 2, "name": "b"}),
            [("DISCARD", 1, None), ("UPSERT", 2, "b")],
            [("DELETE", 1, "a"), ("INSERT", 2, "b")],
        ),
        (event("d", OLD), [("DISCARD", 1, None)], [("DELETE", 1, "a")]),
        (event("m"), [], []),
        (None, [], []),
        ({"schema": None, "payload": None}, [], []),
        ({"payload": event("c", None, NEW)}, [("UPSERT", 1, "b")], [("INSERT", 1, "b")]),
    ],
)
def test_events(document: object, keyed: list, bag: list) -> None:
    assert read(document) == keyed
    assert read(document, table(key=None)) == bag


def test_a_key_alone_says_what_goes() -> None:
    assert read(event("d", {"id": 1})) == [("DISCARD", 1, None)]
    assert read(event("u", None, NEW)) == [("UPSERT", 1, "b")]
    assert read(event("u", {"name": "a"}, NEW)) == [("UPSERT", 1, "b")]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([1], "change 7 is not a Debezium envelope"),
        ({"insert": NEW}, "change 7 is not a Debezium envelope"),
        (event("t"), "change 7 truncates the table"),
        (event("c"), 'change 7 has no "after"'),
        (event("d"), 'change 7 has no key in its "before"'),
        (event("d", {"name": "a"}), 'change 7 has no key in its "before"'),
        (event("c", None, {"id": 1, "nick": "b"}), "change 7 has a column nick"),
        (
            event("u", None, {"id": 1, "name": "__debezium_unavailable_value"}),
            "unchanged value of column name",
        ),
        ({"schema": {"fields": [{"field": "after"}]}, "payload": event("c", None, NEW)}, "has a schema"),
        ({"schema": "after", "payload": event("c", None, NEW)}, "has a schema"),
    ],
)
def test_what_is_not_an_envelope(document: object, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        read(document)


def test_a_bag_needs_whole_rows() -> None:
    with pytest.raises(Invalid, match='has no "before"') as refused:
        read(event("u", None, NEW), table(key=None))
    assert "REPLICA IDENTITY FULL" in refused.value.hint


# Encodings

VALUES = (
    Column("id", BIGINT, False),
    Column("day", DATE),
    Column("moment", TIMESTAMP),
    Column("price", numeric(12, 2)),
)


def with_schema(row: dict, **encodings: tuple) -> dict:
    """An envelope with its schema: for each column the name of its encoding, and maybe a scale."""
    fields = []
    for column in row:
        name, *scale = encodings.get(column, (None,))
        field = {"field": column, "type": "any", "optional": True}
        if name is not None:
            field["name"] = name
        if scale:
            field["parameters"] = {"scale": str(scale[0]), "connect.decimal.precision": "12"}
        fields.append(field)
    members = [{"field": member, "type": "struct", "fields": fields} for member in ("before", "after")]
    schema = {"type": "struct", "fields": [*members, {"field": "op", "type": "string"}]}
    return {"schema": schema, "payload": event("c", None, row)}


def value(document: object, column: int, unit: str | None = None) -> object:
    ((_, *row),) = read(document, table(*VALUES), unit)
    return row[column]


def test_days() -> None:
    assert value(event("c", None, {"id": 1, "day": 19000}), 1) == date(2022, 1, 8)
    assert value(event("c", None, {"id": 1, "day": -1}), 1) == date(1969, 12, 31)
    assert value(event("c", None, {"id": 1, "day": "2022-01-08"}), 1) == "2022-01-08"
    assert value(event("c", None, {"id": 1, "day": "2022-01-08Z"}), 1) == "2022-01-08"


@pytest.mark.parametrize(
    ("encoding", "number", "moment"),
    [
        ("io.debezium.time.Timestamp", 1641639845123, datetime(2022, 1, 8, 11, 4, 5, 123000)),
        ("org.apache.kafka.connect.data.Timestamp", -1, datetime(1969, 12, 31, 23, 59, 59, 999000)),
        ("io.debezium.time.MicroTimestamp", 1641639845123456, datetime(2022, 1, 8, 11, 4, 5, 123456)),
        ("io.debezium.time.NanoTimestamp", 1641639845123456000, datetime(2022, 1, 8, 11, 4, 5, 123456)),
    ],
)
def test_moments_of_a_schema(encoding: str, number: int, moment: datetime) -> None:
    assert value(with_schema({"id": 1, "moment": number}, moment=(encoding,)), 2) == moment


def test_moments_without_one() -> None:
    envelope = event("c", None, {"id": 1, "moment": 1641639845123})
    with pytest.raises(InvalidValue, match="column moment: 1641639845123 is not a valid TIMESTAMP: its unit"):
        value(envelope, 2)
    assert value(envelope, 2, "milliseconds") == datetime(2022, 1, 8, 11, 4, 5, 123000)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2022-01-08T13:04:05.123+02:00", datetime(2022, 1, 8, 11, 4, 5, 123000)),
        ("2022-01-08T11:04:05.1234560-01:30", datetime(2022, 1, 8, 12, 34, 5, 123456)),
        ("2022-01-08T11:04:05Z", "2022-01-08T11:04:05Z"),
        ("2022-01-08T11:04:05", "2022-01-08T11:04:05"),
    ],
)
def test_zoned_moments(text: str, moment: object) -> None:
    assert value(event("c", None, {"id": 1, "moment": text}), 2) == moment


def encoded(number: int) -> str:
    return b64encode(number.to_bytes((number.bit_length() + 8) // 8, signed=True)).decode()


@pytest.mark.parametrize("number", [0, 1, -1, 127, 128, -129, 10**11 - 1, -(10**11)])
def test_decimals(number: int) -> None:
    envelope = with_schema(
        {"id": 1, "price": encoded(number)}, price=("org.apache.kafka.connect.data.Decimal", 2)
    )
    assert value(envelope, 3) == Decimal(number) / 100
    variable = event("c", None, {"id": 1, "price": {"scale": 2, "value": encoded(number)}})
    assert value(variable, 3) == Decimal(number) / 100


def test_decimals_as_text() -> None:
    assert value(event("c", None, {"id": 1, "price": "12.50"}), 3) == "12.50"


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("day", 10**9),
        ("moment", "2022-01-08T13:04:05.1234567+02:00"),
        ("moment", "0001-01-01T00:00:00+02:00"),
        ("moment", 10**18),
        ("price", {"scale": 2, "value": "no"}),
        ("price", {"scale": 10**30, "value": "AQ=="}),
    ],
)
def test_values_that_do_not_fit(column: str, bad: object) -> None:
    with pytest.raises(InvalidValue, match=f"column {column}: "):
        read(event("c", None, {"id": 1, column: bad}), table(*VALUES), "microseconds")


# Through the door


def post(client: Client, *documents: object, **parameters: str) -> object:
    body = b"\n".join(orjson.dumps(document) for document in documents)
    media_type = "; ".join([DEBEZIUM["content-type"], *(f"{n}={v}" for n, v in parameters.items())])
    return client.post("/v1/tables/t/deltas", content=body, headers={"content-type": media_type})


def test_posted(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "moment": "TIMESTAMP"}, ["id"])
    first = event("c", None, {"id": 1, "moment": 1000})
    assert code(post(client, first)) == (422, "invalid_value")
    assert post(client, first, None, timestamps="milliseconds").json() == {"epoch": 1, "changes": 1}
    assert client.rows("t") == [(1, "1970-01-01T00:00:01")]
    answer = post(client, first, event("c", None, {"id": "x"}), timestamps="milliseconds")
    assert "line 2: column id" in answer.json()["detail"]
    assert code(post(client, first, timestamps="weeks")) == (415, "unsupported_format")
    whole = client.post(
        "/v1/tables/t/deltas", [event("d", {"id": 1}), event("d", {"id": 1})], headers=DEBEZIUM
    )
    assert whole.status_code == 200
    assert client.rows("t") == []
    assert code(post(client, {"no": 1})) == (422, "invalid_change")


@each_seed(4)
def test_histories(client: Client, seed: int) -> None:
    """A database's log in which some of the newest events repeat, as after a crash of the connector."""
    chance = random.Random(seed)
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, ["id"])
    client.table("bag", {"id": "BIGINT", "name": "TEXT"})
    rows: dict[int, str] = {}
    log: list[dict] = []
    for _ in range(30):
        start = len(log)
        for _ in range(chance.randint(1, 8)):
            log += step(rows, chance)
        new = log[start:]
        again = log[max(0, start - chance.randint(0, 10)) :]
        shapes = [each if chance.random() < 0.5 else {"schema": None, "payload": each} for each in again]
        assert post(client, *shapes).status_code == 200
        body = orjson.dumps(new)
        assert client.post("/v1/tables/bag/deltas", content=body, headers=DEBEZIUM).status_code == 200
        assert sorted(client.rows("t")) == sorted(rows.items())
        assert Counter(client.rows("bag")) == Counter(rows.items())


def step(rows: dict[int, str], chance: random.Random) -> list[dict]:
    """Changes the rows and returns the events that say so."""
    id, name = chance.randrange(8), chance.choice("abc")
    new = {"id": id, "name": name}
    if id not in rows:
        rows[id] = name
        return [event(chance.choice("cr"), None, new)]
    old = {"id": id, "name": rows[id]}
    other = chance.randrange(8)
    if chance.random() < 0.4:
        del rows[id]
        return [event("d", old)]
    if other not in rows and chance.random() < 0.5:
        del rows[id]
        rows[other] = name
        return [event("u", old, {"id": other, "name": name})]
    rows[id] = name
    return [event("u", old, new)]


@pytest.mark.parametrize(
    ("type", "encoding", "value", "shown"),
    [
        (TIME, "io.debezium.time.MicroTime", 37_800_000_001, "10:30:00.000001"),
        (TIME, "io.debezium.time.Time", 37_800_000, "10:30:00"),
        (TIME, "io.debezium.time.ZonedTime", "10:30:00Z", "10:30:00"),
        (TIMESTAMPTZ, "io.debezium.time.ZonedTimestamp", "2024-01-01T00:00:00+02:00", "2023-12-31T22:00:00Z"),
        (TIMESTAMPTZ, "io.debezium.time.MicroTimestamp", 1, "1970-01-01T00:00:00.000001Z"),
        (INTERVAL, "io.debezium.time.MicroDuration", -1_500_000, "PT-1.5S"),
        (INTERVAL, "io.debezium.time.Interval", "P1Y2M", "P1Y2M"),
        (JSON, "io.debezium.data.Json", '{"a": [1]}', {"a": [1]}),
        (UUID, "io.debezium.data.Uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479", None),
        (BYTEA, "", "YWI=", None),
        (enumeration("sad", "ok"), "io.debezium.data.Enum", "ok", None),
        (array_of(BIGINT), "", [1, None], None),
    ],
)
def test_types_of_postgresql(type: Type, encoding: str, value: object, shown: object) -> None:
    definition = table(Column("id", BIGINT, False), Column("x", type))
    fields = [{"field": "id"}, {"field": "x", "name": encoding}]
    schema = {"fields": [{"field": "after", "fields": fields}]}
    (change,) = EnvelopeReader(definition).read(
        {"schema": schema, "payload": event("c", None, {"id": 1, "x": value})}, 0
    )
    dictionary = Dictionary()
    words = encode_rows([change[1]], definition.schema, dictionary)
    assert decode_rows(words, definition.schema, dictionary) == [(1, value if shown is None else shown)]
