"""Bodies of changes that are not what they say, or are more than they seem."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from functools import cache

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet

from tests.hostile.attack import REFUSED, Attack, Send, attack
from tests.hostile.door import JSON, Door, Reply

NDJSON = "application/x-ndjson"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
DEBEZIUM = "application/vnd.debezium+json"
_TABLE = "CREATE TABLE h (a BIGINT, b TEXT, f DOUBLE PRECISION, n NUMERIC(38, 10), j JSON, xs BIGINT[])"
_KEYED = "CREATE TABLE h (a BIGINT PRIMARY KEY, b TEXT)"
_PATH = "/v1/tables/h/deltas"
_FLIPS = 60


def _post(body: Callable[[], bytes] | bytes, type: str = JSON, table: str = _TABLE, **headers: str) -> Send:
    """One post to a new table. Names of headers have `_` for `-`."""

    def send(door: Door) -> list[Reply]:
        door.prepare(table)
        content = body if isinstance(body, bytes) else body()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return [door.post(_PATH, content, type, named)]

    return send


def _posts(bodies: Callable[[], list[bytes]], type: str) -> Send:
    def send(door: Door) -> list[Reply]:
        door.prepare(_TABLE)
        return [door.post(_PATH, body, type) for body in bodies()]

    return send


def _inserted(value: str) -> bytes:
    return b'[{"insert":{%s}}]' % value.encode()


@cache
def _rows() -> pa.Table:
    return pa.table({"a": np.arange(5000), "b": [f"text {i}" for i in range(5000)], "f": np.ones(5000)})


@cache
def _parquet() -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(_rows(), sink, compression="zstd")
    return sink.getvalue()


@cache
def _arrow() -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, _rows().schema) as writer:
        writer.write_table(_rows())
    return sink.getvalue()


def _flipped(whole: bytes) -> list[bytes]:
    """Copies with a bit flipped, half of them in the last part, where Parquet describes itself."""
    chance = random.Random(len(whole))
    found = []
    for number in range(_FLIPS):
        first = max(0, len(whole) - 2000) if number % 2 else 0
        copy = bytearray(whole)
        copy[chance.randrange(first, len(whole))] ^= 1 << chance.randrange(8)
        found.append(bytes(copy))
    return found


def _truncated(whole: bytes) -> list[bytes]:
    chance = random.Random(len(whole))
    return [whole[: chance.randrange(1, len(whole) - 8)] for _ in range(_FLIPS)]


def _bomb(name: str, compression: str) -> Callable[[], bytes]:
    """A file of one column whose values are large once they are decoded."""

    def make() -> bytes:
        values = pa.array(["x" * 1_000_000]).take(pa.array(np.zeros(2000, np.int32)))
        table = pa.table({"b": values.dictionary_encode()}) if name == "arrow" else pa.table({"b": values})
        sink = io.BytesIO()
        if name == "parquet":
            pa.parquet.write_table(table, sink, compression=compression)
        else:
            with pa.ipc.new_stream(
                sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)
            ) as writer:
                writer.write_table(table)
        return sink.getvalue()

    return make


def _zstd() -> bytes:
    return pa.Codec("zstd").compress(b" " * 1_000_000_000, asbytes=True)


def _same_key(door: Door) -> list[Reply]:
    """A key with one body is taken; with others, with another route or table it is refused."""
    door.prepare(_KEYED)
    key = {"Idempotency-Key": "h"}
    first = door.post(_PATH, b'[{"insert":{"a":1}}]', headers=key)
    assert first.status == 200 and door.post(_PATH, b'[{"insert":{"a":1}}]', headers=key).status == 200
    return [
        door.post(_PATH, b'[{"insert":{"a":2}}]', headers=key),
        door.post("/v1/deltas", b'{"tables":{"h":[{"insert":{"a":1}}]}}', headers=key),
        door.post(_PATH, b"a\n1\n", CSV, headers=key),
    ]


_DEBEZIUM = (
    b"{}",
    b"null",
    b"[]",
    b'{"payload":null}',
    b'{"payload":{"op":"x"}}',
    b'{"payload":{"op":"c","after":7}}',
    b'{"payload":{"op":"u","before":null,"after":null}}',
    b'{"schema":{"fields":[{}]},"payload":{"op":"c"}}',
    b'{"payload":{"op":"d","before":{"a":"x"}}}',
    b'{"payload":{"op":"c","after":{"zzz":1}}}',
    b'{"schema":7,"payload":{"op":"c","after":{"a":1}}}',
    b'{"op":"c","after":{"a":1e400}}',
    b"\x00",
)
_CHANGES = (
    b"",
    b" ",
    b"{",
    b"[",
    b"null",
    b"7",
    b'"x"',
    b"[[]]",
    b"[null]",
    b'[{"insert":null}]',
    b'[{"insert":[]}]',
    b'[{"insert":{"a":1},"delete":{"a":1}}]',
    b'[{"remove":{"a":1}}]',
    b'[{"insert":{"a":true}}]',
    b'[{"insert":{"a":1.5}}]',
    b'[{"insert":{"a":"\\ud800"}}]',
    b'[{"insert":{"b":"\\ud800"}}]',
    b'[{"insert":{"a":NaN}}]',
    b'[{"insert":{"f":Infinity}}]',
    b'[{"insert":{"a":1e400}}]',
    b'[{"insert":{"a":9223372036854775808}}]',
    b'[{"insert":{"b":"\xff\xfe"}}]',
    b'[{"insert":{"\x00":1}}]',
    b'[{"insert":{"xs":[[1]]}}]',
    b'[{"insert":{"xs":{"a":1}}}]',
    b'[{"insert":{"xs":"{1,{2}}"}}]',
    b"\xef\xbb\xbf[",
)

ATTACKS: tuple[Attack, ...] = (
    attack(
        "bomb: gzip",
        _post(lambda: gzip.compress(b" " * 1_000_000_000, 1), NDJSON, Content_Encoding="gzip"),
        {413},
        "too_large",
    ),
    attack("bomb: zstd", _post(_zstd, NDJSON, Content_Encoding="zstd"), {413}, "too_large"),
    attack(
        "bomb: gzip in gzip",
        _post(lambda: gzip.compress(gzip.compress(b" " * 100_000_000)), NDJSON, Content_Encoding="gzip"),
        {400, 415, 422},
        is_brief=True,
    ),
    attack("bomb: Parquet", _post(_bomb("parquet", "zstd"), PARQUET), {413}, "too_large"),
    attack("bomb: Arrow", _post(_bomb("arrow", "zstd"), ARROW), {413}, "too_large"),
    attack(
        "bomb: 10^7 empty rows of Arrow",
        _post(lambda: pa_nulls(10_000_000), ARROW),
        {413},
        "too_many_rows",
        "too_large",
    ),
    attack(
        "bomb: gzip that ends early",
        _post(lambda: gzip.compress(b'{"insert":{"a":1}}\n' * 9999)[:-20], NDJSON, Content_Encoding="gzip"),
        {400},
        "invalid_encoding",
        is_brief=True,
    ),
    attack(
        "bomb: 200 MB of empty lines",
        _post(lambda: b"\n" * 200_000_000, NDJSON),
        {200, 408} | REFUSED,  # a busy machine does not send it in time
    ),
    attack(
        "bomb: a text of 200 MB",
        _post(lambda: _inserted('"b":"' + "x" * 200_000_000 + '"'), JSON),
        {200, 408} | REFUSED,
    ),
    attack(
        "malformed: truncated Parquet",
        _posts(lambda: _truncated(_parquet()), PARQUET),
        {400},
        "invalid_body",
        is_brief=True,
    ),
    attack(
        "malformed: truncated Arrow",
        _posts(lambda: _truncated(_arrow()), ARROW),
        {200, 400},
        "invalid_body",
        is_brief=True,
    ),
    attack(
        "malformed: flipped Parquet",
        _posts(lambda: _flipped(_parquet()), PARQUET),
        {200} | REFUSED,
        is_brief=True,
    ),
    attack(
        "malformed: flipped Arrow", _posts(lambda: _flipped(_arrow()), ARROW), {200} | REFUSED, is_brief=True
    ),
    attack(
        "malformed: wrong magic",
        lambda door: [
            *_posts(
                lambda: [b"PAR1", b"ARROW1\0\0", b"PK\3\4", b"\x7fELF", b"\x89PNG", b"", b"\xff" * 1000],
                PARQUET,
            )(door),
            *(
                door.post(_PATH, body, ARROW)
                for body in (_parquet(), b"ARROW1\0\0" * 99, b"\xff\xff\xff\xff\xff\xff\xff\x7f")
            ),
            door.post(_PATH, _arrow(), PARQUET),
        ],
        {400},
        "invalid_body",
        is_brief=True,
    ),
    attack("malformed: JSON of depth 100,000", _post(b"[" * 100_000), {400}, "invalid_json", is_brief=True),
    attack(
        "malformed: closed JSON of depth 100,000",
        _post(_inserted('"j":' + "[" * 100_000 + "]" * 100_000)),
        {400, 422},
        "invalid_json",
        "invalid_value",
        is_brief=True,
    ),
    attack("malformed: changes", _posts(lambda: list(_CHANGES), JSON), {400, 422}, is_brief=True),
    attack(
        "malformed: lines",
        _posts(lambda: [body for body in _CHANGES if body.strip()], NDJSON),
        {400, 422},
        is_brief=True,
    ),
    attack("malformed: Debezium", _posts(lambda: list(_DEBEZIUM), DEBEZIUM), {200, 400, 422}, is_brief=True),
    attack(
        "malformed: CSV with a quote that is not closed",
        _post(b'a,b\n1,"x', CSV),
        {400},
        "invalid_body",
        is_brief=True,
    ),
    attack(
        "malformed: CSV",
        _posts(
            lambda: [
                b"a,a\n1,2\n",
                b"zzz\n1\n",
                b'"',
                b"a\n\x00\n",
                b",,,\n",
                b"\xff\xfe",
                b"a\n" + b'"' * 99_999,
                b"a," * 99_999,
            ],
            CSV,
        ),
        {400, 422},
        is_brief=True,
    ),
    attack("malformed: NUL in a text", _post(_inserted('"b":"x\\u0000y"')), {200} | REFUSED, is_brief=True),
    attack(
        "malformed: keys of NaN",
        lambda door: [
            door.sql("CREATE TABLE h (f DOUBLE PRECISION PRIMARY KEY, b TEXT)"),
            door.post(_PATH, b'[{"upsert":{"f":"NaN","b":"x"}},{"upsert":{"f":"NaN","b":"y"}}]'),
            door.post(_PATH, b'[{"upsert":{"f":"-0","b":"x"}},{"upsert":{"f":0,"b":"y"}}]'),
        ],
        {200} | REFUSED,
        is_brief=True,
    ),
    attack(
        "malformed: a number of a million digits",
        _post(_inserted('"n":' + "9" * 1_000_000)),
        {400, 422},
        is_brief=True,
    ),
    attack("malformed: an exponent of a million", _post(_inserted('"n":"1e1000000"')), {422}, is_brief=True),
    attack(
        "malformed: an exponent of ten digits",
        _post(_inserted('"n":"1e9999999999"')),
        {422},
        is_brief=True,
    ),
    attack(
        "malformed: one member a million times",
        _post(lambda: b'[{"insert":{' + b'"a":1,' * 999_999 + b'"a":1}}]'),
        {200} | REFUSED,
    ),
    attack(
        "malformed: 100,000 unknown members",
        _post(lambda: orjson.dumps([{"insert": {f"x{i}": i for i in range(100_000)}}])),
        {422},
        is_brief=True,
    ),
    attack(
        "types: of a content that is not taken",
        lambda door: [
            door.sql(_TABLE),
            *(
                door.post(_PATH, b"[]", type)
                for type in (
                    "text/plain",
                    "",
                    "x" * 9000,
                    "application/xml;q=\xe9",
                    "multipart/form-data; boundary=" + "-" * 999,
                )
            ),
            door.post("/v1/sql", b'{"sql":"SELECT 1"}', "text/plain"),
            door.post("/v1/views", b"name=h", "application/x-www-form-urlencoded"),
            door.post(_PATH, b"[]", JSON, {"Content-Encoding": "br, gzip, br"}),
        ],
        {200, 415},
        is_brief=True,
    ),
    attack(
        "keys: one Idempotency-Key and other bodies",
        _same_key,
        {422},
        "idempotency_key_reused",
        is_brief=True,
    ),
    attack(
        "keys: an Idempotency-Key that is none",
        lambda door: [
            *_post(b"[]", Idempotency_Key="x" * 10_000)(door),
            door.post(_PATH, b"[]", headers={"Idempotency-Key": ""}),
        ],
        {422},
        "invalid_idempotency_key",
        is_brief=True,
    ),
    attack(
        "keys: one row upserted 100,000 times in a body",
        _post(lambda: b"\n".join([b'{"upsert":{"a":1,"b":"x"}}'] * 100_000), NDJSON, _KEYED),
        {200} | REFUSED,
    ),
)


def pa_nulls(count: int) -> bytes:
    sink = io.BytesIO()
    batch = pa.RecordBatch.from_arrays([pa.nulls(count)], names=["a"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()
