"""Messages: what is decoded is what was encoded, however it travelled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.supersteps import messages
from engine.supersteps.messages import (
    SCHEMA,
    Message,
    MessageKind,
    Scratch,
    chunks,
    decode_messages,
    encode_messages,
)

NUMBERS = np.arange(60, dtype=np.int64).reshape(12, 5)
ARRAYS = {
    "rows": NUMBERS,
    "one": NUMBERS[0],
    "columns in their order": np.asfortranarray(NUMBERS),
    "every other row": NUMBERS[::2],
    "every other column": NUMBERS[:, ::2],
    "a column": NUMBERS[:, 3],
    "no rows": np.empty((0, 5), np.int64),
    "no columns": np.empty((3, 0), np.int64),
    "extremes": np.array([[-(2**63), 2**63 - 1, -1]], np.int64),
}


def sent() -> list[Message]:
    about = (3, "out", None, True, -1, (), {"name": "é", "more": (1, 2)})
    with_arrays = [
        Message(number, MessageKind.ROWS, about, array) for number, array in enumerate(ARRAYS.values())
    ]
    return [Message(7, MessageKind.SEED, None), *with_arrays, Message(0, MessageKind.FLAGS, about)]


def as_json(value: object) -> object:
    """A head as it arrives: with lists."""
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    return {key: as_json(each) for key, each in value.items()} if isinstance(value, dict) else value


def compare(got: list[Message], expected: list[Message]) -> None:
    for message, original in zip(got, expected, strict=True):
        assert (message.to, message.kind) == (original.to, original.kind)
        assert as_json(message.about) == as_json(original.about)
        if original.array is None:
            assert message.array is None
        else:
            assert message.rows.dtype == np.int64
            assert message.rows.shape == original.rows.shape
            assert message.rows.tolist() == original.rows.tolist()


def received(batches: Iterator[pa.RecordBatch]) -> list[Message]:
    return [message for batch in batches for message in decode_messages(batch)]


def test_messages_arrive_as_they_were_sent() -> None:
    compare(received(encode_messages(sent())), sent())


def test_narrow_and_sliced_batches_are_read_too() -> None:
    """As Spark may hand them over: with 32-bit offsets, and as a part of a larger batch."""
    narrow = pa.schema(
        [("shard", pa.int32()), ("kind", pa.string()), ("head", pa.binary()), ("body", pa.binary())]
    )
    (whole,) = encode_messages(sent())
    for batch in (whole, whole.cast(narrow)):
        got = [
            message for first in range(0, len(batch), 4) for message in decode_messages(batch.slice(first, 4))
        ]
        compare(got, sent())


def test_a_received_array_can_be_written() -> None:
    (message,) = received(encode_messages([Message(0, MessageKind.ROWS, 1, NUMBERS)]))
    message.rows[0] = 9
    assert NUMBERS[0, 0] == 0


def test_nothing_is_sent_as_nothing() -> None:
    assert not list(encode_messages([]))
    with pytest.raises(RuntimeError, match="seed has no array"):
        _ = Message(0, MessageKind.SEED, None).rows


def test_what_is_much_is_sent_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "CHUNK", 100 * 8)
    many = [Message(0, MessageKind.KEPT, number, NUMBERS) for number in range(7)]
    batches = list(encode_messages(many))
    assert [len(batch) for batch in batches] == [2, 2, 2, 1]
    assert all(batch.schema == SCHEMA for batch in batches)
    compare(received(iter(batches)), many)


@pytest.mark.parametrize(("most", "sizes"), [(8, [1] * 12), (2 * 40, [2] * 6), (5 * 40 + 39, [5, 5, 2])])
def test_rows_are_cut_into_pieces_that_fit(
    monkeypatch: pytest.MonkeyPatch, most: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(messages, "CHUNK", most)
    pieces = list(chunks(NUMBERS))
    assert [len(piece) for piece in pieces] == sizes
    assert np.concatenate(pieces).tolist() == NUMBERS.tolist()


def test_no_rows_are_no_pieces() -> None:
    assert not list(chunks(NUMBERS[:0]))


@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_kept_in_a_file_is_read_again(tmp_path: Path, name: str) -> None:
    """Under a name that is new each time, and as often as one likes, whatever a reader does with it."""
    scratch, array = Scratch(tmp_path), ARRAYS[name]
    first, second = scratch.write(array), scratch.write(array)
    assert first != second
    for _ in range(2):
        got = scratch.read(first, array.shape)
        assert got.tolist() == array.tolist()
        got[...] = 7
