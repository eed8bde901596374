"""Parquet with flipped bits is refused, or has the rows that it says; it is never a fault of the service."""

from __future__ import annotations

import io
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from service.decoding.parsing import PARQUET
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
