"""Parquet with flipped bits is refused, or has the rows that it says; it is never a fault of the service."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from service.decoding.parsing import PARQUET
from service.pipeline.local_files import LocalFile, SparkNeeded
from service.pipeline.local_parquet import LocalParquet
from tests.seeds import SEED
from tests.service.client import Client

ROWS = 3000
COPIES = 150


def written(checksums: bool) -> bytes:
    sink = io.BytesIO()
    table = pa.table({"a": np.arange(ROWS), "b": [f"text {i % 700}" for i in range(ROWS)]})
    pa.parquet.write_table(table, sink, compression="zstd", write_page_checksum=checksums)
    return sink.getvalue()


def flipped(whole: bytes, places: range, chance: random.Random) -> bytes:
    copy = bytearray(whole)
    copy[chance.choice(places)] ^= 1 << chance.randrange(8)
    return bytes(copy)


def post(client: Client, body: bytes) -> int:
    return client.post("/v1/tables/t/deltas", content=body, headers={"Content-Type": PARQUET}).status_code


def test_a_flipped_bit_is_no_fault_of_the_service(client: Client) -> None:
    client.table("t", {"a": "BIGINT", "b": "TEXT"})
    chance = random.Random(SEED)
    whole = written(checksums=False)
    found = {post(client, flipped(whole, range(len(whole)), chance)) for _ in range(COPIES)}
    assert found <= {200, 400, 413, 415, 422}
    assert 400 in found


def test_a_place_beyond_the_dictionary_is_refused(client: Client) -> None:
    """A page without compression, so that a flipped bit changes a place and nothing else."""
    client.table("t", {"b": "TEXT"})
    sink = io.BytesIO()
    table = pa.table({"b": [f"text {i % 5}" for i in range(ROWS)]})
    pa.parquet.write_table(table, sink, compression="none", write_page_checksum=False)
    whole = sink.getvalue()
    chunk = pyarrow.parquet.ParquetFile(io.BytesIO(whole)).metadata.row_group(0).column(0)
    pages = range(chunk.data_page_offset, chunk.dictionary_page_offset + chunk.total_compressed_size)
    chance = random.Random(SEED)
    found = [post(client, flipped(whole, pages, chance)) for _ in range(COPIES)]
    assert set(found) <= {200, 400, 413, 422}
    assert 400 in found


def test_checksums_of_pages_are_compared(client: Client) -> None:
    client.table("t", {"a": "BIGINT", "b": "TEXT"})
    whole = written(checksums=True)
    chunk = pyarrow.parquet.ParquetFile(io.BytesIO(whole)).metadata.row_group(0).column(0)
    end = chunk.data_page_offset + 200
    chance = random.Random(SEED)
    assert post(client, whole) == 200
    for _ in range(20):
        assert post(client, flipped(whole, range(end, end + 500), chance)) == 400


FOOTER = 24
"""The first bytes of a footer: where a flipped bit can make PyArrow end the process."""


def footers() -> Iterator[bytes]:
    """A small file, with each bit flipped at the beginning of its footer."""
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": [1, None, 3], "b": ["x", "y", None]}), sink)
    whole = sink.getvalue()
    (length,) = struct.unpack("<I", whole[-8:-4])
    for place in range(len(whole) - 8 - length, len(whole) - 8 - length + FOOTER):
        for bit in range(8):
            copy = bytearray(whole)
            copy[place] ^= 1 << bit
            yield bytes(copy)


def test_a_broken_footer_does_not_end_the_service(client: Client) -> None:
    client.table("t", {"a": "BIGINT", "b": "TEXT"})
    found = {post(client, body) for body in footers()}
    assert 400 in found
    assert found <= {200, 400, 413, 415, 422}


def test_a_broken_footer_is_left_to_spark_by_a_load(tmp_path: Path) -> None:
    path, sparks = tmp_path / "t.parquet", 0
    for body in footers():
        path.write_bytes(body)
        try:
            reader = LocalParquet([LocalFile(path, {}, len(body))], {}, ())
            for _ in reader.batches(list(reader.columns)):
                assert reader.expected >= 0
                assert 0 <= reader.progress <= 1
        except SparkNeeded:
            sparks += 1
    assert sparks


def test_a_place_beyond_the_dictionary_is_left_to_spark_by_a_load(tmp_path: Path) -> None:
    path, chance, found = tmp_path / "t.parquet", random.Random(SEED), set()
    sink = io.BytesIO()
    table = pa.table({"b": [f"text {i % 5}" for i in range(ROWS)]})
    pa.parquet.write_table(table, sink, compression="none")
    whole = sink.getvalue()
    for _ in range(COPIES):
        path.write_bytes(flipped(whole, range(len(whole)), chance))
        try:
            reader = LocalParquet([LocalFile(path, {}, len(whole))], {}, ())
            for batch in reader.batches(["b"]):
                batch.validate(full=True)
                found.add("read")
        except SparkNeeded:
            found.add("left")
    assert found == {"read", "left"}
