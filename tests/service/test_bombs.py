"""Small bodies that decode to large data: the service refuses them while decoding, within its memory."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from service.decoding.arrow_messages import message_sizes
from service.decoding.arrow_sizes import decoded_size
from service.decoding.parsing import ARROW, CSV, JSON, NDJSON, PARQUET
from service.errors import TooLarge
from service.settings.settings import Settings
from tests.service.client import Client, code

MIB = 1 << 20
ROWS = 20_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service that takes at most 20,000 rows and 8 MiB in a body."""
    data = tmp_path_factory.mktemp("bombs")
    with Client(replace(Settings(data=data), body_rows=ROWS, body_limit=8 * MIB)) as client:
        client.table("n", {"a": "BIGINT"})
        client.table("s", {"x": "TEXT"})
        client.table("j", {"x": "JSON"})
        client.table("l", {"x": "BIGINT[]"})
        client.table("wide", {f"c{i}": "BIGINT" for i in range(1000)})
        yield client


def post(client: Client, table: str, body: bytes, type: str, encoding: str = "") -> tuple[int, str]:
    headers = {"Content-Type": type} | ({"Content-Encoding": encoding} if encoding else {})
    answer = client.post(f"/v1/tables/{table}/deltas", content=body, headers=headers)
    return (200, "") if answer.status_code == 200 else code(answer)


def stream(batch: pa.RecordBatch, compression: str | None = None, times: int = 1) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        for _ in range(times):
            writer.write_batch(batch)
    return sink.getvalue()


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def batch(array: pa.Array, name: str = "x") -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array], names=[name])


LINE = b'{"insert":{"a":1}}\n'
TEXT = "x" * 2_000
NULLS = pa.ListArray.from_arrays(pa.array([0, 10**7], pa.int32()), pa.nulls(10**7))
ONES = pa.array(np.zeros(10_000, np.int32))


@pytest.mark.parametrize(
    ("table", "body", "type", "encoding", "expected"),
    [
        ("n", gzip.compress(LINE * (ROWS + 1)), NDJSON, "gzip", "too_many_rows"),
        ("n", b"[" + b",".join([LINE] * (ROWS + 1)) + b"]", JSON, "", "too_many_rows"),
        ("n", b"a\n" + b"1\n" * (ROWS + 1), CSV, "", "too_many_rows"),
        ("n", stream(batch(pa.nulls(10**7), "a")), ARROW, "", "too_many_rows"),
        ("n", stream(batch(pa.nulls(ROWS // 2 + 1), "a"), times=2), ARROW, "", "too_many_rows"),
        ("n", parquet(pa.table({"a": np.ones(ROWS + 1, np.int64)})), PARQUET, "", "too_many_rows"),
        ("wide", LINE.replace(b'"a":1', b"") * 5000, NDJSON, "", "too_many_rows"),
        ("wide", stream(batch(pa.nulls(5000), "c1")), ARROW, "", "too_many_rows"),
        ("n", gzip.compress(b" " * 9 * MIB), NDJSON, "gzip", "too_large"),
        ("s", stream(batch(pa.DictionaryArray.from_arrays(ONES, [TEXT]))), ARROW, "", "too_large"),
        ("s", parquet(pa.table({"x": pa.array([TEXT]).take(ONES)})), PARQUET, "", "too_large"),
        ("s", stream(batch(pa.array(["x" * 9 * MIB])), "zstd"), ARROW, "", "too_large"),
        ("s", stream(batch(pa.array([b"\0" * 9 * MIB])), "lz4"), ARROW, "", "too_large"),
        ("l", stream(batch(NULLS)), ARROW, "", "too_large"),
        ("j", b'{"insert":{"x":[' + b"[]," * 1_200_000 + b"[]]}}", NDJSON, "", "too_large"),
        ("j", b'[{"insert":{"x":[' + b"[]," * 1_200_000 + b"[]]}}]", JSON, "", "too_large"),
    ],
)
def test_a_bomb(client: Client, table: str, body: bytes, type: str, encoding: str, expected: str) -> None:
    assert post(client, table, body, type, encoding) == (413, expected)


@pytest.mark.parametrize(
    ("table", "body", "type"),
    [
        ("n", LINE * ROWS, NDJSON),
        ("n", LINE * 1000 + b"\n" * 100_000, NDJSON),
        ("n", b"a\n" + b"1\n" * ROWS, CSV),
        ("n", parquet(pa.table({"a": np.ones(ROWS, np.int64)})), PARQUET),
        ("s", parquet(pa.table({"x": pa.array(["x" * 100]).take(ONES)})), PARQUET),
        ("s", stream(batch(pa.DictionaryArray.from_arrays(ONES, ["x" * 100])), "zstd"), ARROW),
        ("s", stream(batch(pa.array(["x" * 6 * MIB])), "zstd"), ARROW),
    ],
)
def test_what_is_large_and_no_bomb(client: Client, table: str, body: bytes, type: str) -> None:
    assert post(client, table, body, type) == (200, "")


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "dictionary"])
def test_encodings_of_parquet(client: Client, encoding: str) -> None:
    """Any encoding may be chosen by a writer. Texts that share all but their ends count in full."""
    client.post("/v1/sql", {"sql": "DROP TABLE IF EXISTS e; CREATE TABLE e (x TEXT, a BIGINT)"})
    table = pa.table({"x": [f"text {i % 50}" for i in range(1000)] + [None], "a": range(1001)})
    for rows, status in ((table, 200), (pa.table({"x": ["y" * 2000 + str(i) for i in range(9000)]}), 413)):
        sink = io.BytesIO()
        shared = encoding == "dictionary"
        pa.parquet.write_table(
            rows,
            sink,
            compression="zstd",
            use_dictionary=shared,
            column_encoding=None if shared else {"x": encoding},
            data_page_version="2.0",
        )
        assert post(client, "e", sink.getvalue(), PARQUET)[0] == status
    assert len(client.rows("e", limit=5000)) == 1001


def test_several_tables_share_the_rows(client: Client) -> None:
    half = [{"insert": {"a": 1}}] * (ROWS // 2 + 1)
    answer = client.post("/v1/deltas", {"tables": {"n": half, "s": [{"insert": {"x": "1"}}] * len(half)}})
    assert code(answer) == (413, "too_many_rows")
    long = [{"insert": {"x": "y" * 200}}] * 9_000  # more than is parsed in one piece
    answer = client.post("/v1/deltas", {"tables": {"s": long, "n": half[:9_000]}})
    assert answer.json()["changes"] == 18_000


# Sizes


def nested(depth: int) -> pa.Array:
    """A dictionary of one text inside lists, doubled at every level."""
    array: pa.Array = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), ["x" * 1000])
    for _ in range(depth):
        array = pa.ListViewArray.from_arrays([0, 0], [2, 2], array)
    return array


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", None, "bcd"]),
        pa.array(["a" * 50, None, "bcd"], pa.string_view()),
        pa.array([[1, 2], None, []]),
        pa.array([["ab", None], ["c"]], pa.large_list(pa.string())),
        pa.array([[[1], [2, 3]], [[]]]),
        pa.array([{"a": 1, "b": "xyz"}, None]),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.array([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
        pa.array([["ab", "c"], ["d", "e"]], pa.list_(pa.string(), 2)),
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), ["abc", "d"]),
        pa.RunEndEncodedArray.from_arrays(pa.array([3, 5], pa.int32()), ["abc", None]),
        nested(3),
        pa.nulls(5),
        pa.array([True, None]),
    ],
    ids=lambda array: str(array.type)[:40],
)
def test_sizes_are_those_of_the_values(array: pa.Array) -> None:
    """Shared values count as often as they occur, as the corresponding Python values would."""
    counted = decoded_size(batch(array), 1 << 40)
    assert counted >= sum(map(size, array.to_pylist()))
    sliced = decoded_size(batch(array.slice(1)), 1 << 40)
    assert sum(map(size, array.slice(1).to_pylist())) <= sliced <= counted
    with pytest.raises(TooLarge):
        decoded_size(batch(array), counted - 1)


def size(value: object) -> int:
    """The least size of a value: 8 bytes and its content."""
    if isinstance(value, list):
        return 8 + sum(map(size, value))
    if isinstance(value, (dict, tuple)):
        return sum(map(size, value.values() if isinstance(value, dict) else value))
    return 8 + (len(value) if isinstance(value, str) else 0)


def test_doubled_lists_are_not_made() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            decoded_size(batch(nested(60)), 1 << 30)
        assert tracemalloc.get_traced_memory()[1] < 10 * MIB
    finally:
        tracemalloc.stop()


def test_messages_say_their_sizes() -> None:
    numbers = batch(pa.array(np.zeros(100_000, np.int64)))
    for compression in (None, "zstd", "lz4"):
        assert list(message_sizes(stream(numbers, compression)))[1:] == [(100_000, 800_000)]
    coded = batch(pa.DictionaryArray.from_arrays(pa.array(np.zeros(1000, np.int32)), ["x" * 10_000]))
    _, dictionary, rows = message_sizes(stream(coded, "zstd"))
    assert dictionary[0] == 0 and 10_000 <= dictionary[1] < 10_100
    assert rows == (1000, 4000)


def test_metadata_that_is_damaged(client: Client) -> None:
    """Any byte of a stream may be wrong. The answer is a problem, never a 500."""
    rng = np.random.default_rng(1)
    good = stream(batch(pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), ["ab", "c"])), "zstd")
    for _ in range(300):
        bad = bytearray(good)
        for place in rng.integers(0, len(bad), rng.integers(1, 4)):
            bad[place] = rng.integers(0, 256)
        status, _ = post(client, "s", bytes(bad), ARROW)
        assert status in (200, 400, 413, 422)


def test_parquet_that_is_damaged(client: Client) -> None:
    rng = np.random.default_rng(2)
    good = parquet(pa.table({"x": ["ab", "c", None]}))
    for _ in range(300):
        bad = bytearray(good)
        for place in rng.integers(0, len(bad), rng.integers(1, 4)):
            bad[place] = rng.integers(0, 256)
        status, _ = post(client, "s", bytes(bad), PARQUET)
        assert status in (200, 400, 413, 422)
